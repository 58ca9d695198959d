"""When settings are known: which model, which variant, which Prefect. The one place that chooses."""

import logging
import os
from pathlib import Path

from agents.domain.budget import Usage
from agents.domain.cycle import Knobs
from agents.domain.errors import Misconfigured
from agents.domain.gate import UNSANDBOXED
from agents.domain.value import digest_of
from agents.models.model import Model
from agents.prompt import text_of
from flows.settings import Settings
from tasks import server
from tasks.checks.sandbox import describe
from tasks.cycle import Means

RETRIES = "2"  # with pauses of 2 and 4 s; Prefect's own 5 hold a run for minutes when its server is gone
PROMPTS = ("lead_engineer", "moves_text", "moves_tools", "briefing")


def choose_model(settings: Settings) -> Model:
    """Return the model that the settings name; a live one begins to load in the background."""
    name = settings.model
    if name is None:
        raise Misconfigured("no model is set: give --model NAME or set LRA_MODEL (`lra demo` needs none)")
    kind, _, where = name.partition(":")
    if kind == "scripted":
        from agents.models.scripted import Scripted

        return Scripted(Path(where).expanduser())
    if kind == "recorded":
        from agents.models.recorded import Recorded

        return Recorded(Path(where).expanduser())
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else litellm asks the network at import
    from agents.models.live import Live

    prices = (settings.input_usd_per_million, settings.output_usd_per_million)
    declared = None if None in prices else (prices[0] or 0.0, prices[1] or 0.0)
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return Live(name, settings.api_base, key, settings.request_seconds, declared)


def is_unpriced(model: Model) -> bool:
    """Say whether the calls of a live model cost an unknown amount."""
    return model.source == "live" and model.price(Usage(prompt=1_000_000)) is None


def means(settings: Settings) -> Means:
    """Return what a run brings to every cycle; Misconfigured when the model cannot be one, or nothing could merge."""
    model = choose_model(settings)
    model.check()
    if not settings.allow_unsandboxed and describe().startswith(UNSANDBOXED):
        raise Misconfigured(
            "checks cannot be isolated on this machine, so nothing they say may be merged: `lra doctor` names the "
            "command that mends it, and LRA_ALLOW_UNSANDBOXED=true does without"
        )
    knobs = Knobs(
        max_calls=settings.max_calls,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        show_work=settings.show_work,
    )
    variant = f"default@{digest_of([*(text_of(name) for name in PROMPTS), knobs.model_dump()])[:8]}"
    return Means(model, variant, knobs, settings.moves, round(settings.check_seconds), settings.allow_unsandboxed)


def launch_prefect(settings: Settings) -> server.Server | None:
    """Point Prefect at its server, and start the local one in the background when no other is configured."""
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    os.environ.setdefault("PREFECT_INTERNAL_LOGGING_LEVEL", "CRITICAL")
    os.environ.setdefault("PREFECT_LOCAL_STORAGE_PATH", str(settings.home / "results"))
    os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "lra")
    os.environ.setdefault("PREFECT_CLIENT_MAX_RETRIES", RETRIES)
    logging.raiseExceptions = False  # that the server went away is said once, by the run, and not by every log line
    os.environ.update(server.QUIET)
    os.environ.setdefault("PREFECT_HOME", str(settings.home / "prefect"))
    if settings.prefect_api_url is None:
        local = server.launch(settings.home, os.environ)
        os.environ["PREFECT_API_URL"] = local.api
        return local
    os.environ["PREFECT_API_URL"] = settings.prefect_api_url
    if not server.is_healthy(settings.prefect_api_url):
        raise Misconfigured(
            f"no Prefect server answers at {settings.prefect_api_url}: start it, or unset PREFECT_API_URL and LRA "
            "starts one of its own"
        )
    return None
