"""When do people ask what missions cost and how they went? They make the warehouse, and question it in SQL."""

from decimal import Decimal
from typing import Any

import click

from flows.cli.console import EVERYWHERE, Answer, Exit, table


@click.group()
def metrics() -> None:
    """Work on the warehouse of metrics.

    Everything in it is made from the journals under LRA_HOME: `lra metrics ingest` brings it up to date,
    `lra metrics sql "SELECT * FROM spend"` reads it. DESCRIBE and duckdb_columns() tell what there is, with units.
    """


@metrics.command(params=[*EVERYWHERE])
def ingest() -> Answer:
    """Bring what the journals say into the warehouse; journals that are damaged are named."""
    from analytics.warehouse import ingest as bring_in
    from flows.settings import read

    done = bring_in(read().home)
    lines = [f"{done.files} journals: {done.rows_read} rows read, {done.rows_new} new"]
    lines += [f"damaged: {broken.file}, line {broken.line}: {broken.reason}" for broken in done.broken]
    return Answer(done.model_dump(mode="json"), "\n".join(lines), Exit.INCOMPLETE if done.broken else Exit.DONE)


@metrics.command(params=[*EVERYWHERE])
@click.argument("query")
def sql(query: str) -> Answer:
    """Answer a QUERY in DuckDB's SQL from the last ingest; it can change nothing."""
    from analytics.warehouse import query as ask
    from flows.settings import read

    columns, rows = ask(read().home, query)
    cells = [["NULL" if cell is None else str(cell) for cell in row] for row in rows]
    return Answer({"columns": columns, "rows": [[_plain(cell) for cell in row] for row in rows]}, table(columns, cells))


def _plain(cell: Any) -> Any:
    return float(cell) if isinstance(cell, Decimal) else cell  # JSON has no decimals, and a text is no number
