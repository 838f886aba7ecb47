"""How Sphinx builds the site: ``sphinx-build -W --keep-going docs build/site``. It asks nothing of the network."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / place) for place in ("docs/extension", "tests/support", "")]

project = "ChainCover"
copyright = "the authors of ChainCover, MIT licence"  # noqa: A001
version = release = version_of("chaincover")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "made_from_code"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["extension", "**.ipynb"]
myst_enable_extensions = ["deflist", "attrs_inline", "colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page made of tables may begin its headings deeper

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

smartquotes_action = "qe"  # two dashes are those of an option

html_theme = "furo"
html_title = f"ChainCover {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
