"""The application: one table of panels, one shape of answers and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response
from fastapi.exceptions import RequestValidationError
from fastapi.requests import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from groundling import __version__
from groundling.drawing.svg import COLOURS
from groundling.errors import ExecutionError, GroundlingError, MissingExtraError
from groundling.web.answers import AbsentError, Answer, Refusal, fault_of
from groundling.web.guard import Guard, refuse
from groundling.web.learning import School, State, Wish
from groundling.web.panels import captions, meaning, programs, speech, transfer, trees, words
from groundling.web.shop import RUNS, Shop
from groundling.web.work import BusyError, LateError, Workers

# name -> (what it is asked, what answers, one line for the API's description)
PANELS: dict[str, tuple[type[BaseModel], Callable[[Any, Shop], Answer], str]] = {
    "trees": (trees.Request, trees.run, "Struct-IoU and ParsEval of two trees."),
    "words": (words.Request, words.run, "Word alignment of two sentences."),
    "programs": (programs.Request, programs.run, "Choose among programs by running them in the sandbox."),
    "transfer": (transfer.Request, transfer.run, "Project a dependency tree onto a sentence of another language."),
    "meaning": (meaning.Request, meaning.run, "What a sentence means to a learned lexicon (model g2l2)."),
    "captions": (captions.Request, captions.run, "The tree of a caption (model vgnsl)."),
    "speech": (speech.Request, speech.run, "Voice, words and tree of a recording (model avnsl)."),
}
MOST_BYTES = {"/api/speech": speech.MOST_BYTES + 4096}  # where it is not the guard's own limit
# The only files that are served: no path is ever made from what a client sends.
FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/record.js": ("record.js", "text/javascript"),
}
STATUS: dict[type[GroundlingError], int] = {
    BusyError: 503, LateError: 504, AbsentError: 503, ExecutionError: 503, MissingExtraError: 503
}  # fmt: skip
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": what}
    for status, what in {
        400: "Not JSON",
        403: "Foreign Host or Origin",
        413: "Too long",
        422: "The input is at fault",
        503: "Something that the panel needs is not here, or the server is busy",
        504: "Took too long",
    }.items()
}


def create_app(models: Mapping[str, Path] | None = None, workers: Workers | None = None, runs: Path = RUNS) -> FastAPI:
    """Build the application; `models` maps g2l2, vgnsl ... to folders; models learned by the page go to `runs`."""
    shop, crew = Shop(models, runs), workers or Workers()
    school = School(shop)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        crew.close()
        shop.close()

    app = FastAPI(
        title="groundling",
        version=__version__,
        description=__doc__ or "",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(Guard, most_bytes=MOST_BYTES)
    for status_class in (GroundlingError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(status_class, _refuse)
    for path, (name, kind) in FILES.items():
        app.get(path, include_in_schema=False)(partial(_file, name, kind))
    app.get("/colours.css", include_in_schema=False)(_colours)
    _add_models(app, school)
    for name, (request, run, summary) in PANELS.items():
        app.post(f"/api/{name}", summary=summary, response_model=Answer, responses=_REFUSALS, operation_id=name)(
            _endpoint(request, run, shop, crew)
        )
    return app


def _endpoint(request: type[BaseModel], run: Callable[[Any, Shop], Answer], shop: Shop, crew: Workers) -> Any:
    async def answer(asked: Any) -> Answer:
        return await crew.do(partial(run, asked, shop))

    answer.__annotations__ = {"asked": request, "return": Answer}
    return answer


def _add_models(app: FastAPI, school: School) -> None:
    @app.get("/api/models", summary="Which models are here.", operation_id="models", responses=_REFUSALS)
    async def models() -> dict[str, State]:
        return school.states()

    @app.post("/api/learn", summary="Learn a small model.", operation_id="learn", responses=_REFUSALS)
    async def learn(wish: Wish) -> State:
        return school.begin(wish.model)


async def _file(name: str, kind: str) -> Response:
    return Response(files("groundling.web").joinpath("static", name).read_bytes(), media_type=kind)


async def _colours() -> Response:
    """The colours of the pictures, for the page to use too."""
    light, dark = ("".join(f"--gl-{name}:{pair[side]};" for name, pair in COLOURS.items()) for side in (0, 1))
    sheet = f":root{{{light}--page:#f6f3ea}}@media (prefers-color-scheme:dark){{:root{{{dark}--page:#0c0f12}}}}"
    return Response(sheet, media_type="text/css")


async def _refuse(request: Request, error: Exception) -> JSONResponse:
    """Every error in one shape."""
    if isinstance(error, GroundlingError):
        cause = error.__cause__ if isinstance(error.__cause__, GroundlingError) else error
        status = next((code for kind, code in STATUS.items() if isinstance(cause, kind)), 422)
        fault = fault_of(error, request.url.path.removeprefix("/api/"))
        return JSONResponse(Refusal(error=fault).model_dump(), status)
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        status = 400 if first["type"] == "json_invalid" else 422
        return refuse(status, f"{first['msg']}.", "See /openapi.json for what each field may be.", where[:80])
    if isinstance(error, HTTPException):
        return refuse(error.status_code, f"{error.detail}.", "The page is at /, the API is described in /openapi.json.")
    return refuse(500, "something broke here, and that is our fault.", "The terminal of the server says more.")
