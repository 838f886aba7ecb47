"""The versions of installed packages, from the names of folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmc.engines import installed


def test_folders_of_a_checkout_do_not_hide_the_version_of_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("checkout/tool.egg-info", "site/tool-1.2.dist-info", "site/An_Old.Tool-3.0-py3.11.egg-info"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr("sys.path", [str(tmp_path / "checkout"), str(tmp_path / "site")])
    assert installed.__wrapped__() == {"tool": "1.2", "an-old-tool": "3.0"}
