import time
def test_x(world):
    t=time.time(); r=world.run(); print(time.time()-t); print(r.exit,r.answer,r.said)
    for x in world.rows(): print(x.seq,x.phase,x.kind,x.place, round(x.at-1.7e9,2))
    t=time.time(); r=world.run(); print(time.time()-t); print(r.exit,r.answer,r.said)
    print(world.merges()); print(world.git("log","--format=%s",world.record))
    print([ (c,w) for c,b,w in world.provider.log])
