"""The page in a real browser: panels, errors, keyboard, downloads, links, phone width, many at once."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from groundling.structures import Alignment
from groundling.web.app import PANELS, create_app

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: install one, or set $CHROMIUM")
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-fake-device-for-media-stream --use-fake-ui-for-media-stream"
).split()
ARTEFACTS = os.environ.get("GROUNDLING_ARTEFACTS")  # where screenshots are kept, if anywhere
SLOW = 60_000.0  # ms: a busy machine is no failure


def diagonal(source: list[str], target: list[str], method: str, shop: object) -> Alignment:
    links = [(i, i) for i in range(min(len(source), len(target)))]
    return Alignment(frozenset(links), probabilities=dict.fromkeys(links, 0.9))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    patch = pytest.MonkeyPatch()
    patch.setattr("groundling.web.panels.words.align_pair", diagonal)
    patch.setattr("groundling.web.panels.transfer.align_pair", diagonal)
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_app(runs=tmp_path_factory.mktemp("runs"))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)
    patch.undo()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield one
        one.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A fresh page; nothing may break in it, and nothing may be asked of another server."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(SLOW)
    one, faults = context.new_page(), []
    one.on("pageerror", lambda error: faults.append(str(error)))
    one.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    one.on(
        "request",
        lambda asked: faults.append(asked.url) if not asked.url.startswith((address, "data:", "blob:")) else None,
    )
    yield one
    context.close()
    assert faults == []


def run(page: Any, address: str, name: str) -> Any:
    page.goto(f"{address}#{name}")
    page.locator(f"#{name} button.main").click()
    done = page.locator(f"#{name} .answer:not([hidden]), #{name} .fault:not([hidden])")
    done.first.wait_for()
    return page.locator(f"#{name}")


def test_every_panel_answers_or_says_what_is_missing_and_fits_a_phone(page: Any, address: str) -> None:
    for name in PANELS:
        panel = run(page, address, name)
        answered = panel.locator(".answer").is_visible()
        assert answered or "model is here" in panel.get_by_role("alert").inner_text() or name == "programs", name
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
            if ARTEFACTS:
                page.screenshot(path=Path(ARTEFACTS) / f"web-{name}-{width}.png", full_page=True)
        page.set_viewport_size({"width": 1280, "height": 900})


def test_hover_lights_the_matched_pair(page: Any, address: str) -> None:
    panel = run(page, address, "trees")
    panel.locator('[data-node="gold-0"]').hover()
    lit = page.locator(".gl-lit")
    assert sorted(lit.evaluate_all("nodes => nodes.map(n => n.dataset.node)")) == ["gold-0", "pred-0"]
    page.mouse.move(0, 0)
    assert lit.count() == 0


def test_an_error_is_announced_at_its_field(page: Any, address: str) -> None:
    page.goto(f"{address}#trees")
    page.get_by_label("Predicted tree").fill("(S (N dogs")
    page.locator("#trees button.main").click()
    page.locator("#trees .fault:not([hidden])").wait_for()
    assert "Predicted tree: 2 bracket(s) are not closed." in page.get_by_role("alert").inner_text()
    assert page.evaluate("document.activeElement.name") == "pred"
    assert page.get_by_label("Predicted tree").get_attribute("aria-invalid") == "true"


def test_everything_can_be_done_by_keyboard(page: Any, address: str) -> None:
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the second link of the navigation
    page.locator("#words").wait_for()
    assert page.locator("nav a[aria-current]").inner_text() == "Words" and page.title().startswith("Words")
    page.get_by_label("Source sentence").focus()
    page.keyboard.press("Control+Enter")
    page.locator("#words .answer:not([hidden])").wait_for()


def test_a_link_restores_the_state(page: Any, browser: Any, address: str) -> None:
    page.goto(f"{address}#trees")
    page.get_by_label("Predicted tree").fill("(S (X The girl) saw a cat with a telescope)")
    page.get_by_label("Match equal labels only").uncheck()
    page.locator("#trees button.main").click()
    summary = page.locator("#trees .summary")
    summary.wait_for()
    other = browser.new_page()
    other.set_default_timeout(SLOW)
    other.goto(page.url)
    other.locator("#trees .summary").wait_for()
    assert other.locator("#trees .summary").inner_text() == summary.inner_text()
    assert not other.get_by_label("Match equal labels only").is_checked()
    other.close()


def test_pictures_and_data_are_saved(page: Any, address: str) -> None:
    panel = run(page, address, "trees")
    found: dict[str, bytes] = {}
    for name in ("Save struct-iou as SVG", "Save struct-iou as PNG", "Save JSON"):
        with page.expect_download() as download:
            panel.get_by_role("button", name=name).click()
        found[download.value.suggested_filename] = Path(download.value.path()).read_bytes()
    assert found["trees-struct-iou.svg"].startswith(b"<svg") and found["trees-struct-iou.png"].startswith(b"\x89PNG")
    assert json.loads(found["trees.json"])["scores"][0]["name"] == "StructIoU"


def test_a_recording_becomes_a_sound_file(page: Any, address: str) -> None:
    page.goto(f"{address}#speech")
    page.get_by_role("button", name="Record").click()
    page.get_by_role("button", name="Stop").wait_for()
    page.wait_for_timeout(1200)  # the browser's fake microphone beeps once a second
    page.get_by_role("button", name="Stop").click()
    page.locator("#speech .answer:not([hidden])").wait_for()
    assert 0.3 < float(page.locator("#speech .summary").inner_text().split()[0]) < 20
    assert page.evaluate("document.forms[6].elements.sound.files[0].name") == "recording.wav"


def test_twenty_users_at_once_are_all_answered(page: Any, address: str) -> None:
    page.goto(address)
    ask = """() => Promise.all([...Array(20)].map((_, i) => fetch('api/trees', {method: 'POST',
        headers: {'Content-Type': 'application/json'}, body: JSON.stringify({gold: `(S (N w${i}) (V x))`,
        pred: `(S (N w${i}) (V x))`})}).then(r => r.json()).then(r => r.data.scores[0].value)))"""
    assert page.evaluate(ask) == [1.0] * 20


# panel -> (field, what is written there, what the page says)
WRONG = {
    "trees": ("gold", "(S (N dogs", "Gold tree: 2 bracket(s) are not closed."),
    "words": ("target", "la " * 500, "Target sentence"),
    "programs": ("inputs", "   ", "there is no input"),
    "transfer": ("tree", "dogs 7 root", "Source tree"),
    "meaning": ("sentence", "jump twice", "no g2l2 model is here"),
    "captions": ("sentence", "a dog", "no vgnsl model is here"),
    "speech": ("words", "la " * 40, "What the built-in voice says: 40 words are too many."),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_in_each_panel_is_announced_and_says_what_to_do(page: Any, address: str, name: str) -> None:
    field, text, said = WRONG[name]
    page.goto(f"{address}#{name}")
    box = page.locator(f"#{name} [name={field}]")
    box.fill(text)
    page.locator(f"#{name} button.main").click()
    fault = page.locator(f"#{name} .fault:not([hidden])")
    fault.wait_for()
    assert said in fault.inner_text() and fault.get_attribute("role") == "alert"
    assert fault.locator("span").first.inner_text(), "it does not say what to do next"
    assert page.locator(f"#{name} .answer").is_hidden()
    if "model" not in said:
        assert box.get_attribute("aria-invalid") == "true" and page.evaluate("document.activeElement.name") == field


def test_an_empty_field_is_caught_before_anything_is_sent(page: Any, address: str) -> None:
    page.goto(f"{address}#words")
    page.get_by_label("Source sentence").fill("")
    page.locator("#words button.main").click()
    assert page.evaluate("document.forms[1].elements.source.validity.valueMissing")
    assert page.locator("#words .answer").is_hidden() and page.locator("#words .fault").is_hidden()


def test_every_panel_is_reached_filled_and_run_by_keyboard(page: Any, address: str) -> None:
    for number, name in enumerate(PANELS):
        page.goto("about:blank")
        page.goto(address)
        for _ in range(2 + number):  # the skip link, then the panels' links
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator(f"nav a[aria-current][href='#{name}']").wait_for()
        page.locator(f"#{name}").wait_for()
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("name => document.activeElement.closest('form') !== null", name):
                break
        page.keyboard.press("Control+Enter")
        page.locator(f"#{name} .answer:not([hidden]), #{name} .fault:not([hidden])").first.wait_for()


def test_an_answer_is_saved_by_keyboard(page: Any, address: str) -> None:
    panel = run(page, address, "trees")
    panel.locator("button.main").focus()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Save JSON":
            break
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "trees.json"


def test_pictures_of_every_panel_are_saved_as_svg_and_png(page: Any, address: str) -> None:
    for name in ("words", "transfer", "speech", "programs"):
        panel = run(page, address, name)
        if panel.locator(".answer").is_hidden():
            assert name == "programs"  # no sandbox on this machine
            continue
        for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
            with page.expect_download() as download:  # the last picture; Chromium holds back many downloads in a row
                panel.get_by_role("button", name=f"as {kind}").last.click()
            assert Path(download.value.path()).read_bytes().startswith(start), (name, kind)


def test_a_link_restores_every_panel(page: Any, address: str) -> None:
    for name, (field, text) in {
        "words": ("target", "eins zwei & drei = 3?"),
        "programs": ("inputs", "f(1)\nf('#')"),
        "transfer": ("target", "ja nein"),
        "meaning": ("sentence", "walk twice"),
        "captions": ("sentence", "ein Hund — 犬"),
        "speech": ("words", "hello there"),
    }.items():
        page.goto(f"{address}#{name}")
        page.locator(f"#{name} [name={field}]").fill(text)
        page.locator(f"#{name} button.main").click()
        done = page.locator(f"#{name} .answer:not([hidden]), #{name} .fault:not([hidden])")
        done.first.wait_for()
        link = page.url
        page.goto("about:blank")
        page.goto(link)
        done.first.wait_for()  # a link runs what it restores
        assert page.locator(f"#{name} [name={field}]").input_value() == text, name


def test_twenty_people_with_a_page_each_are_all_answered(browser: Any, address: str) -> None:
    contexts = [browser.new_context() for _ in range(20)]
    pages = [context.new_page() for context in contexts]
    for number, one in enumerate(pages):
        one.set_default_timeout(SLOW)
        one.goto(f"{address}#trees")
        one.get_by_label("Predicted tree").fill(f"(S (N w{number}) (V x))")
        one.get_by_label("Gold tree").fill(f"(S (N w{number}) (V x))")
    for one in pages:
        one.evaluate("document.forms[0].requestSubmit()")  # all before any is waited for
    for number, one in enumerate(pages):
        one.locator("#trees .summary").wait_for()
        assert "100" in one.locator("#trees .summary").inner_text(), number
    for context in contexts:
        context.close()
