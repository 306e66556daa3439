"""Files are written whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import fcntl
import os
import pathlib
import stat
import threading

import pytest

from justicia import writing
from justicia.errors import InputError
from justicia.writing import together, write_whole

OLD = "what stood here before"


@pytest.fixture(params=[True, False], ids=["without a name", "with a name"])
def target(request, tmp_path, monkeypatch):
    """A file that is there, where new files have no name until they are whole, or have one."""
    if request.param and not writing._LINKS:
        pytest.skip("this system has no files without names")
    monkeypatch.setattr(writing, "_LINKS", request.param)
    path = tmp_path / "a.json"
    path.write_text(OLD)
    return path


def alone(path):
    return [one.name for one in path.parent.iterdir()] == [path.name]


def test_the_text_takes_the_place_of_the_old_one(target):
    target.chmod(0o640)
    write_whole(target, "new ü")
    assert target.read_text(encoding="utf-8") == "new ü"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert alone(target)


def test_a_new_file_has_the_rights_of_new_files(target):
    before = os.umask(0o027)
    try:
        write_whole(target.with_name("b"), b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.with_name("b").stat().st_mode) == 0o640


def test_a_long_name_and_a_link(target):
    long = target.with_name("ü" * 127)
    write_whole(long, "long")
    assert long.read_text() == "long"
    long.unlink()
    link = target.parent / "link"
    link.symlink_to(target)
    write_whole(link, "by way of a link")
    assert link.is_symlink()
    assert target.read_text() == "by way of a link"


def failing(monkeypatch, call, error, at=1):
    """The call fails the time that is named."""
    real, count = getattr(os, call), 0

    def fails(*arguments, **options):
        nonlocal count
        count += 1
        if count == at:
            if call == "write":
                real(arguments[0], bytes(arguments[1])[:3])
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(os, call, fails)
    if call == "replace":
        monkeypatch.setattr(pathlib.Path, "replace", lambda path, other: fails(path, other))


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
def test_a_disk_that_fails_leaves_what_was_there(target, monkeypatch, call, number):
    failing(monkeypatch, call, OSError(number, os.strerror(number)))
    with pytest.raises(InputError, match=f"a.json cannot be written: {os.strerror(number)}"):
        write_whole(target, "a new text")
    assert target.read_text() == OLD
    assert alone(target)


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_an_interruption_leaves_what_was_there(target, monkeypatch, call):
    failing(monkeypatch, call, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, "a new text")
    assert target.read_text() == OLD
    assert alone(target)


def test_a_text_that_is_taken_in_pieces_is_whole(target, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: real(descriptor, bytes(content)[:7]))
    write_whole(target, "a text of more than seven bytes")
    assert target.read_text() == "a text of more than seven bytes"


def test_files_together_are_all_new_or_all_old(target, monkeypatch):
    other = target.with_name("b.html")
    other.write_text(OLD)
    with together():
        write_whole(target, "1")
        assert target.read_text() == OLD
        with together():
            write_whole(other, "2")
        assert other.read_text() == OLD
    assert (target.read_text(), other.read_text()) == ("1", "2")
    failing(monkeypatch, "write", OSError(errno.ENOSPC, "No space left on device"), at=2)

    def both():
        with together():
            write_whole(target, "3")
            write_whole(other, "4")

    with pytest.raises(InputError, match=r"b.html cannot be written: No space"):
        both()
    assert (target.read_text(), other.read_text()) == ("1", "2")
    assert sorted(one.name for one in target.parent.iterdir()) == ["a.json", "b.html"]


def test_descriptors_are_closed(target, monkeypatch):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    write_whole(target, "1")
    failing(monkeypatch, "fsync", OSError(errno.EIO, "broken"))
    with pytest.raises(InputError):
        write_whole(target, "2")
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


def test_what_a_killed_process_left_is_removed_and_what_another_one_writes_is_not(target):
    left, held = (target.with_name(f".a.json.justicia-{number * 8}") for number in "01")
    strange = target.with_name(".a.json.justice")
    for path in (left, held, strange):
        path.write_text("half")
    with held.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_whole(target, "new")
    assert not left.exists()
    assert held.exists()
    assert strange.exists()


def test_many_writers_of_one_target(target):
    texts = [f"{number}" * 5000 for number in range(8)]
    errors = []

    def put(text):
        try:
            for _ in range(20):
                write_whole(target, text)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=put, args=(text,)) for text in texts]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert errors == []
    assert target.read_text() in texts
    assert alone(target)


def test_devices_and_pipes_are_written_to(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with pytest.raises(InputError, match="/dev/full cannot be written: No space left on device"):
        write_whole("/dev/full", "x")
    write_whole("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held = []
    reader = threading.Thread(target=lambda: held.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through a pipe")
    reader.join()
    assert held == ["through a pipe"]
