"""Invalid and hostile requests: each gets one sentence, and the next request works."""

import json
import signal
import socket
import threading
import time
from contextlib import suppress

import pytest
from services import LIMITS, serving

GOOD = {"row": "How long does soup keep?"}
DEEP = b'{"row": ' + b"[" * 5000 + b"]" * 5000 + b"}"


def refusal_of_deep_json():
    """Python 3.13 and later can parse JSON this deep; it is still not a valid row."""
    try:
        json.loads(DEEP)
    except RecursionError:
        return 400, "nested too deeply"
    return 422, "must be a string"


@pytest.fixture(autouse=True)
def _valid_requests_still_work(service):
    yield
    assert service.ask("/suggest", GOOD)[0] == 200


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "JSON"),
        (b"", 400, "JSON"),
        (b"\xff\xfe\xff", 400, "JSON"),
        (b'{"row": NaN}', 400, "NaN"),
        (DEEP, *refusal_of_deep_json()),
        (b'{"row": ' + b"9" * 5000 + b"}", 400, "JSON"),
        (b"[]", 422, "object"),
        (b"{}", 422, "either 'row' or 'rows'"),
        (b'{"row": "a", "rows": ["a"]}', 422, "either 'row' or 'rows'"),
        (b'{"row": "a", "path": "/etc/passwd"}', 422, "unknown field 'path'"),
        (b'{"rows": []}', 422, "at least one"),
        (b'{"rows": "text"}', 422, "a list"),
        (b'{"rows": ["a", 3]}', 422, "row 1 must be a string"),
        (b'{"row": null}', 422, "row 0 must be a string"),
        (b'{"row": {"questoin": "a"}}', 422, "'questoin'"),
        (b'{"row": {"question": 3}}', 422, "must be a string"),
        (b'{"row": ["a"]}', 422, "must be a string"),
        (b'{"row": "a", "k": 0}', 422, "from 1 to 100"),
        (b'{"row": "a", "k": 101}', 422, "from 1 to 100"),
        (b'{"row": "a", "k": true}', 422, "from 1 to 100"),
        (b'{"row": "a", "k": 1.5}', 422, "from 1 to 100"),
        (b'{"row": "a", "model": 3}', 422, "name of a model"),
        (b'{"row": "a", "model": "../q.sf"}', 404, "unknown model '../q.sf'"),
        (b'{"row": {"word3": "x"}, "model": "matrix"}', 422, "finite number"),
        (b'{"row": {"word3": true}, "model": "matrix"}', 422, "finite number"),
        (b'{"row": {"word3": 1e999}, "model": "matrix"}', 422, "finite number"),
        (b'{"row": {"word3": 1' + b"0" * 400 + b'}, "model": "matrix"}', 422, "finite number"),
        (b'{"row": {"word60": 1}, "model": "matrix"}', 422, "'word60'"),
        (b'{"row": [1, 2], "model": "matrix"}', 422, "all 60 numbers"),
        (b'{"row": "a text", "model": "matrix"}', 422, "object of numbers by feature name"),
        (b'{"row": {"year": "2001"}, "model": "posts"}', 422, "'year' must be a finite number"),
        (b'{"row": {"site": []}, "model": "posts"}', 422, "'site' must be a string"),
        (b'{"row": {"color": 1}, "model": "posts"}', 422, "'color'"),
        (b'{"row": "a text", "model": "posts"}', 422, "an object with the fields"),
        (json.dumps({"rows": ["a"] * 51}).encode(), 413, "at most 50"),
        (json.dumps({"row": "a" * 20_000}).encode(), 413, "at most 20,000 bytes"),
    ],
    ids=lambda value: str(value[:40]) if isinstance(value, bytes) else None,
)
def test_invalid_suggest_requests_get_one_sentence(service, body, status, said):
    found, answer = service.ask(
        "/suggest", body=body, method="POST", headers={"Content-Type": "application/json"}
    )
    assert found == status, answer
    assert said in answer["error"]
    assert len(answer["error"]) < 400
    assert "\n" not in answer["error"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"label": "soup"}, "'row'"),
        ({"row": "a", "label": "unheard of"}, "'unheard of'"),
        ({"row": "a", "label": 3}, "name of a label"),
        ({"row": "a", "label": []}, "name of a label"),
        ({"row": "a", "label": [["soup"]]}, "name of a label"),
        ({"row": "a", "label": ["soup"] * 101}, "at most 100"),
        ({"row": "a", "n_rows": -1}, "from 0 to 100"),
        ({"row": {"question": "a", "x": 1}}, "'x'"),
        ({"rows": ["a"]}, "unknown field 'rows'"),
    ],
)
def test_invalid_explain_requests_get_one_sentence(service, content, said):
    status, answer = service.ask("/explain", content)
    assert status == 422
    assert said in answer["error"]


def test_half_of_a_surrogate_pair_is_valid_text(service):
    for content in (GOOD | {"row": "soup \ud83c"}, {"row": "a", "label": "\ud83c"}):
        path = "/explain" if "label" in content else "/suggest"
        status, answer = service.ask(path, content)
        assert status == (422 if "label" in content else 200), answer


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/suggest", "GET", {}, 405),
        ("/health", "POST", {}, 405),
        ("/nothing", "GET", {}, 404),
        ("/../../etc/passwd", "GET", {}, 404),
        ("/%2e%2e/%2e%2e/etc/passwd.js", "GET", {}, 404),
        ("/..%2fmodel.js", "GET", {}, 404),
        ("/info?model=../../etc/passwd", "GET", {}, 404),
        ("/?model=nothing", "GET", {}, 404),
        ("/suggest", "POST", {"Content-Type": "text/plain"}, 415),
        ("/suggest", "POST", {}, 415),
        ("/health", "GET", {"Host": "evil.example"}, 421),
        ("/health", "GET", {"Host": "evil.example:80"}, 421),
        ("/health", "GET", {"Host": "localhost:99"}, 200),
        ("/health", "GET", {"Host": "[::1]:99"}, 200),
    ],
)
def test_unknown_paths_methods_types_and_hosts_are_rejected(service, path, method, headers, status):
    body = b'{"row": "a"}' if method == "POST" else None
    found, answer = service.ask(path, method=method, body=body, headers=headers)
    assert found == status
    assert status == 200 or answer["error"]


def test_a_huge_body_is_rejected_without_reading_all_of_it(service):
    head = b"POST /suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as client:
        client.sendall(head + b"Content-Length: 100000000000\r\n\r\n")
        received = b""
        with suppress(OSError):  # the server closes the connection
            for sent in range(1000):  # far more than the server discards
                client.sendall(b"x" * (65536 + sent % 2))
        with suppress(OSError):
            received = client.recv(10_000)
    assert sent < 999
    assert received == b"" or received.startswith(b"HTTP/1.1 413")


def answer_to(service, *parts, pause=0.0, timeout=20):
    """Send these parts one by one, then nothing; return what the server sends."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=timeout) as client:
        for part in parts:
            client.sendall(part)
            time.sleep(pause)
        received = b""
        while part := client.recv(10_000):
            received += part
        return received


HEAD = (
    b"POST /suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n"
)


def test_idle_and_incomplete_requests_are_disconnected(service):
    got = {}
    slow = {
        "nothing": (),
        "half a head": (b"GET /health HTT",),
        "half a body": (HEAD, b'{"row": '),
        "a body that nobody reads": (HEAD.replace(b"/suggest", b"/nothing"), b"x", b"y"),
    }

    def ask(name):
        try:
            got[name] = answer_to(service, *slow[name], pause=0.3)
        except ConnectionResetError:
            got[name] = b"reset"

    threads = [threading.Thread(target=ask, args=(name,)) for name in slow]
    for thread in threads:
        thread.start()
    for _ in range(5):  # other clients are served meanwhile
        assert service.ask("/suggest", GOOD)[0] == 200
    for thread in threads:
        thread.join()
    assert got["nothing"] == got["half a head"] == b""
    assert got["half a body"].startswith(b"HTTP/1.1 408")
    assert b"got 8 bytes" in got["half a body"]
    assert got["a body that nobody reads"].startswith(b"HTTP/1.1 404")


def test_endless_headers_and_invalid_http_are_rejected(service):
    assert answer_to(service, b"SOME WORDS\r\n\r\n").startswith(b"HTTP/1.1 400")
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        received = b""
        with suppress(OSError):
            for number in range(20_000):
                client.sendall(f"X-{number}: {'x' * 1000}\r\n".encode())
        with suppress(OSError):
            received = client.recv(1000)
    assert number < 19_999
    assert received == b"" or received.startswith(b"HTTP/1.1 400")


def test_disconnecting_mid_request_does_no_harm(service):
    body = json.dumps({"rows": ["soup"] * 50}).encode()
    head = HEAD.replace(b"100", str(len(body)).encode())
    for sent in (b"", HEAD[:20], HEAD, HEAD + b'{"row"', head + body):
        for _ in range(5):
            client = socket.create_connection(("127.0.0.1", service.port))
            client.sendall(sent)
            client.close()


def test_timeouts_say_how_far_the_work_got(models):
    from sketchforest.serve.limits import Deadline
    from sketchforest.serve.responses import RequestError
    from sketchforest.serve.served_model import ModelSource, ServedModel

    served, over = ServedModel.load(ModelSource("matrix", models["matrix"])), Deadline()
    over.cancel()
    with pytest.raises(RequestError, match="after 0 of 2 rows") as found:
        served.suggest([{"word1": 1}] * 2, 1, over)
    assert found.value.status_code == 503
    with pytest.raises(RequestError, match="after 0 of 3 labels"):
        served.explain({"word1": 1}, None, 3, 1, over)


@pytest.mark.parametrize(
    ("workers", "number"),
    [
        (1, signal.SIGTERM),
        pytest.param(2, signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(1, signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(2, signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_shutdown_finishes_open_requests(models, tmp_path, workers, number):
    arguments = (models["questions"], "--workers", workers, *LIMITS)
    with serving(tmp_path, *arguments) as running:
        body = json.dumps(GOOD).encode()
        head = HEAD.replace(b"100", str(len(body)).encode())
        with socket.create_connection(("127.0.0.1", running.port), timeout=20) as client:
            client.sendall(head + body[:5])
            time.sleep(0.5)  # let the request arrive before the signal
            told = threading.Timer(0.5, client.sendall, (body[5:],))
            told.start()
            code, logged = running.stop(number)
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        assert code == 0
        assert "Traceback" not in logged


def test_unservable_models_are_reported_before_workers_start(command, models, tmp_path):
    model = models["questions"]
    code, _, said = command("serve", model, model)
    assert code == 2
    assert "two models named" in " ".join(said.replace("│", "").split())
    code, _, said = command("serve", tmp_path / "nothing.sf")
    assert code == 1
    assert "nothing.sf" in said
    (tmp_path / "other.sf").write_text("a,b\n1,2\n")
    code, _, said = command("serve", tmp_path / "other.sf")
    assert code == 1
    assert "is not a valid sketchforest model" in said
    from sketchforest import RandomForestRegressor

    RandomForestRegressor(2).fit([[0.0], [1.0]], [0.0, 1.0]).save(tmp_path / "regressor.sf")
    code, _, said = command("serve", tmp_path / "regressor.sf")
    assert code == 1
    assert "only classifiers can be served" in said


def test_models_are_named_by_argument_or_file(models):
    from sketchforest.serve.served_model import named_sources

    path = models["questions"]
    [plain, named] = named_sources([str(path), f"food={path}"])
    assert (plain.name, named.name) == ("questions", "food")
    assert plain.path == named.path == path
    with pytest.raises(ValueError, match="NAME=MODEL"):
        named_sources(["=model.sf"])
