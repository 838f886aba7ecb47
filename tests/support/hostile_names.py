"""Names and texts that formats take for something else: each format of exports writes every one as plain text."""

from __future__ import annotations

HOSTILE = (
    "safe # TODO later",
    "safe # SKIP here",
    "two\nlines",
    "returns\rto the left",
    "not ok 1 - forged",
    "Bail out!",
    "ends a comment */ int x;",
    "trigraph ??/",
    "quote \" and ' apostrophe",
    "backslash \\n at the end \\",
    "a;list;of;three",
    "${HOME} $ENV{PATH} $(id) `id`",
    "%s%n%d",
    "::set-output name=a::b",
    "=1+1",
    "@SUM(A1)",
    "-1 <!-- ]]> & -->",
    "$end #0 a[0] a->b",
    "\x1b[31mred\x07\x00\x7f\u0085",
    "größer \U0001f600 \u202e\u2028 \ud800",
)
