"""Fragments as code generators write them for floating-point signals: the model equals the compiled original."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read  # noqa: F401

from bmc.floats.format import FLOAT64, pattern
from bmc.system.simulation import Simulator

pytestmark = pytest.mark.needs_compiler

TYPES = """
#include <math.h>
#include <stddef.h>
typedef double real_T; typedef float real32_T; typedef unsigned char boolean_T; typedef unsigned char uint8_T;
typedef int int32_T; typedef unsigned int uint32_T;
"""

FRAGMENTS = {
    "modes kept in doubles": """
        struct { real_T mode; real_T next; uint8_T is_active; } DW; struct { real_T speed; boolean_T on; } U; struct { real_T lamp; } Y;
        void initialize(void) { DW.mode = 0.0; Y.lamp = 0.0; }
        void step(void) {
          if (DW.is_active == 0U) { DW.is_active = 1U; DW.mode = 1.0; }
          else if (DW.mode == 1.0) { if (U.on) DW.mode = 2.0; }
          else if (DW.mode == 2.0) { if (!U.on) { DW.mode = 1.0; } else if (U.speed >= 12.5) { DW.mode = 3.0; } }
          else if (U.speed < 10.0) { DW.mode = 2.0; }
          Y.lamp = (DW.mode == 3.0); DW.next = DW.mode + 1.0; }""",
    "saturation, dead zone and relay": """
        struct { real_T u; real32_T v; } U; struct { real_T y, z; real32_T s; } Y; boolean_T relay;
        void step(void) {
          real_T u1 = U.u;
          if (u1 > 100.0) { u1 = 100.0; } else { if (u1 < -100.0) { u1 = -100.0; } }
          Y.y = u1;
          if (U.u > 0.5) { Y.z = U.u - 0.5; } else if (U.u >= -0.5) { Y.z = 0.0; } else { Y.z = U.u - -0.5; }
          relay = ((U.v >= 3.0F) || ((!(U.v <= -3.0F)) && relay));
          Y.s = relay ? 1.0F : 0.0F; }""",
    "rounding helpers": """
        real_T rt_roundd_snf(real_T u) { real_T y;
          if (fabs(u) < 4.503599627370496E+15) { if (u >= 0.5) { y = floor(u + 0.5); } else if (u > -0.5) { y = u * 0.0; } else { y = ceil(u - 0.5); } }
          else { y = u; } return y; }
        struct { real_T u; } U; struct { real_T r; int32_T n; uint8_T b; } Y;
        void step(void) { real_T tmp = rt_roundd_snf(U.u); Y.r = tmp;
          if (tmp < 2.147483648E+9) { if (tmp >= -2.147483648E+9) { Y.n = (int32_T)tmp; } else { Y.n = (-2147483647-1); } } else if (tmp >= 2.147483648E+9) { Y.n = 2147483647; } else { Y.n = 0; }
          if (tmp < 256.0) { if (tmp >= 0.0) { Y.b = (uint8_T)tmp; } else { Y.b = 0U; } } else { Y.b = 255U; } }""",
    "modulo helper": """
        #include <float.h>
        real32_T rtInfF = INFINITY; real32_T rtNaNF = NAN;
        boolean_T rtIsInfF(real32_T v) { return (boolean_T)(isinf(v) != 0); } boolean_T rtIsNaNF(real32_T v) { return (boolean_T)(isnan(v) != 0); }
        real32_T rt_modf_snf(real32_T u0, real32_T u1) { real32_T y = u0;
          if (u1 == 0.0F) { if (u0 == 0.0F) { y = u1; } }
          else if (rtIsNaNF(u0) || rtIsNaNF(u1) || rtIsInfF(u0)) { y = rtNaNF; }
          else if (u0 == 0.0F) { y = 0.0F / u1; }
          else if (rtIsInfF(u1)) { if ((u1 < 0.0F) != (u0 < 0.0F)) { y = u1; } }
          else { boolean_T yEq; y = fmodf(u0, u1); yEq = (y == 0.0F);
            if ((!yEq) && (u1 > floorf(u1))) { real32_T q = fabsf(u0 / u1); yEq = !(fabsf(q - floorf(q + 0.5F)) > FLT_EPSILON * q); }
            if (yEq) { y = u1 * 0.0F; } else if ((u0 < 0.0F) != (u1 < 0.0F)) { y += u1; } }
          return y; }
        struct { real32_T u; } U; real32_T y, z; void step(void) { y = rt_modf_snf(U.u, 360.0F); z = rt_modf_snf(floorf(U.u), 7.0F); }""",
    "wrap to an unsigned type": """
        struct { real_T u; } U; struct { uint8_T y; int32_T z; } Y;
        void step(void) { real_T tmp = floor(U.u);
          if (isnan(tmp) || isinf(tmp)) { tmp = 0.0; } else { tmp = fmod(tmp, 256.0); }
          Y.y = (uint8_T)(tmp < 0.0 ? (int32_T)(uint8_T)-(signed char)(uint8_T)-tmp : (int32_T)(uint8_T)tmp); }""",
    "lookup with interpolation": """
        static const real_T bp[5] = { -1.0, 0.0, 2.0, 5.0, 10.0 }; static const real_T table[5] = { 0.0, 0.25, 1.0, 2.5, 3.0 };
        real_T look1_linlx(real_T u0, const real_T bp0[], const real_T tab[], uint32_T maxIndex) { real_T frac; uint32_T iLeft;
          if (u0 <= bp0[0U]) { iLeft = 0U; frac = (u0 - bp0[0U]) / (bp0[1U] - bp0[0U]); }
          else if (u0 < bp0[maxIndex]) { iLeft = 0U; while (iLeft + 1U < maxIndex && u0 >= bp0[iLeft + 1U]) { iLeft++; }
            frac = (u0 - bp0[iLeft]) / (bp0[iLeft + 1U] - bp0[iLeft]); }
          else { iLeft = maxIndex - 1U; frac = (u0 - bp0[maxIndex - 1U]) / (bp0[maxIndex] - bp0[maxIndex - 1U]); }
          return (tab[iLeft + 1U] - tab[iLeft]) * frac + tab[iLeft]; }
        real_T u, y; void step(real_T x) { u = x; if (!(u > -100.0 && u < 100.0)) u = 0.0; y = look1_linlx(u, bp, table, 4U); }""",
    "lookup by bisection": """
        static const real_T bp[6] = { -1.0, 0.0, 2.0, 5.0, 10.0, 12.5 }; static const real_T table[6] = { 0.0, 0.25, 1.0, 2.5, 3.0, -1.0 };
        real_T look1_binlx(real_T u0, const real_T bp0[], const real_T tab[], uint32_T maxIndex) { real_T frac; uint32_T iRght; uint32_T iLeft; uint32_T bpIdx;
          if (u0 <= bp0[0U]) { iLeft = 0U; frac = (u0 - bp0[0U]) / (bp0[1U] - bp0[0U]); }
          else if (u0 < bp0[maxIndex]) { bpIdx = maxIndex >> 1U; iLeft = 0U; iRght = maxIndex;
            while (iRght - iLeft > 1U) { if (u0 < bp0[bpIdx]) { iRght = bpIdx; } else { iLeft = bpIdx; } bpIdx = (iRght + iLeft) >> 1U; }
            frac = (u0 - bp0[iLeft]) / (bp0[iLeft + 1U] - bp0[iLeft]); }
          else { iLeft = maxIndex - 1U; frac = (u0 - bp0[maxIndex - 1U]) / (bp0[maxIndex] - bp0[maxIndex - 1U]); }
          return (tab[iLeft + 1U] - tab[iLeft]) * frac + tab[iLeft]; }
        real_T u, y; void step(real_T x) { u = x; if (!(u > -100.0 && u < 100.0)) u = 0.0; y = look1_binlx(u, bp, table, 5U); }""",
    "filter, integrator and rate limiter": """
        struct { real_T filter; real_T sum; real_T last; real32_T delay[2]; } DW; struct { real_T y, i, r; real32_T d; } Y;
        struct { real_T Ts, limit, coeff[2]; } const P = { 0.01, 10.0, { 0.9, 0.1 } };
        void step(real_T u, boolean_T reset) { real_T rate;
          DW.filter = P.coeff[0] * DW.filter + P.coeff[1] * u; Y.y = DW.filter;
          if (reset) { DW.sum = 0.0; } DW.sum += P.Ts * u; if (DW.sum > P.limit) { DW.sum = P.limit; } else if (DW.sum < -P.limit) { DW.sum = -P.limit; } Y.i = DW.sum;
          rate = u - DW.last; if (rate > 0.5) { DW.last += 0.5; } else if (rate < -0.5) { DW.last -= 0.5; } else { DW.last = u; } Y.r = DW.last;
          Y.d = DW.delay[1]; DW.delay[1] = DW.delay[0]; DW.delay[0] = (real32_T)u; }""",
    "enabled subsystem and events": """
        struct { real_T clock; real32_T prev; uint8_T edge; } DW; real_T out;
        void step(real32_T trigger, real_T x) { boolean_T rising = ((DW.prev <= 0.0F) && (trigger > 0.0F));
          if (rising) { DW.edge++; out = x * 2.0; } DW.prev = trigger; DW.clock += 0.1; if (DW.clock >= 1.0) { DW.clock = 0.0; out = 0.0; } }""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAGMENTS)
def test_fragment_agrees(name: str, tmp_path: Path) -> None:
    found = agreement(
        read(tmp_path, TYPES + FRAGMENTS[name], init=("initialize",) if "initialize" in FRAGMENTS[name] else None),
        pairs=300,
    )
    assert found.steps > 250
    assert not found.differences, found.differences[0]
    assert not found.traps


NONFINITE = """
typedef struct { struct { uint32_T wordH; uint32_T wordL; } words; } BigEndianIEEEDouble;
typedef struct { struct { uint32_T wordL; uint32_T wordH; } words; } LittleEndianIEEEDouble;
typedef struct { union { real32_T wordLreal; uint32_T wordLuint; } wordL; } IEEESingle;
real_T rtInf, rtMinusInf, rtNaN; real32_T rtInfF, rtMinusInfF, rtNaNF;
real32_T rtGetInfF(void) { IEEESingle infF; infF.wordL.wordLuint = 0x7F800000U; return infF.wordL.wordLreal; }
real32_T rtGetMinusInfF(void) { IEEESingle minfF; minfF.wordL.wordLuint = 0xFF800000U; return minfF.wordL.wordLreal; }
real32_T rtGetNaNF(void) { IEEESingle nanF = { { 0.0F } }; nanF.wordL.wordLuint = 0xFFC00000U; return nanF.wordL.wordLreal; }
real_T rtGetInf(void) { size_t bitsPerReal = sizeof(real_T) * 8U; real_T inf = 0.0;
  if (bitsPerReal == 32U) { inf = rtGetInfF(); } else { union { LittleEndianIEEEDouble bitVal; real_T fltVal; } tmpVal;
    tmpVal.bitVal.words.wordH = 0x7FF00000U; tmpVal.bitVal.words.wordL = 0x00000000U; inf = tmpVal.fltVal; } return inf; }
real_T rtGetMinusInf(void) { union { LittleEndianIEEEDouble bitVal; real_T fltVal; } tmpVal;
    tmpVal.bitVal.words.wordH = 0xFFF00000U; tmpVal.bitVal.words.wordL = 0x00000000U; return tmpVal.fltVal; }
real_T rtGetNaN(void) { uint32_T one = 1U; real_T nan = 0.0; switch (*((uint8_T *) &one) == 1U) { case 1: {
    union { LittleEndianIEEEDouble bitVal; real_T fltVal; } tmpVal; tmpVal.bitVal.words.wordH = 0xFFF80000U; tmpVal.bitVal.words.wordL = 0U; nan = tmpVal.fltVal; break; } } return nan; }
void rt_InitInfAndNaN(size_t realSize) { (void) (realSize); rtNaN = rtGetNaN(); rtNaNF = rtGetNaNF(); rtInf = rtGetInf(); rtInfF = rtGetInfF();
  rtMinusInf = rtGetMinusInf(); rtMinusInfF = rtGetMinusInfF(); }
boolean_T rtIsInf(real_T value) { return (boolean_T)((value==rtInf || value==rtMinusInf) ? 1U : 0U); }
boolean_T rtIsInfF(real32_T value) { return (boolean_T)(((value)==rtInfF || (value)==rtMinusInfF) ? 1U : 0U); }
boolean_T rtIsNaNF(real32_T value) { IEEESingle tmp; tmp.wordL.wordLreal = value;
  return (boolean_T)( (tmp.wordL.wordLuint & 0x7F800000) == 0x7F800000 && (tmp.wordL.wordLuint & 0x007FFFFF) != 0 ); }
boolean_T rtIsNaN(real_T value) { boolean_T result = (boolean_T) 0; size_t bitsPerReal = sizeof(real_T) * 8U;
  if (bitsPerReal == 32U) { result = rtIsNaNF((real32_T)value); } else { union { LittleEndianIEEEDouble bitVal; real_T fltVal; } tmpVal; tmpVal.fltVal = value;
    result = (boolean_T)((tmpVal.bitVal.words.wordH & 0x7FF00000) == 0x7FF00000 && ( (tmpVal.bitVal.words.wordH & 0x000FFFFF) != 0 || (tmpVal.bitVal.words.wordL != 0) )); } return result; }
struct { real_T n, i, m; real32_T f; int32_T kinds; } Y;
void initialize(void) { rt_InitInfAndNaN(sizeof(real_T)); Y.n = rtNaN; Y.f = rtMinusInfF; }
void step(real_T a, real32_T b) { Y.kinds = rtIsNaN(a) + 2 * rtIsNaNF(b) + 4 * rtIsInf(a) + 8 * rtIsInfF(b); if (rtIsNaN(a)) { Y.i = rtInf; Y.f = rtNaNF; } else { Y.i = a; Y.m = rtMinusInf; } }
"""


def test_nonfinite_helpers_that_use_unions(tmp_path: Path) -> None:
    model = read(tmp_path, TYPES + NONFINITE, init=("initialize",))
    start = Simulator(model.system).initial()
    assert [start[name] for name in ("rtNaN", "rtInf", "rtMinusInf", "Y.n")] == [
        FLOAT64.nan,
        pattern(float("inf"), FLOAT64),
        pattern(float("-inf"), FLOAT64),
        FLOAT64.nan,
    ]
    found = agreement(model, pairs=300)
    assert found.steps == 300
    assert not found.differences, found.differences[0]
