"""Instructions that C++ seldom or never gives, as inline PTX."""

from __future__ import annotations

import re

from support.operations.operation import Operation, ptx

# `result <- operands`, then instructions; {a,b} stands for either. After a colon comes
# text that spells the operands itself. `h` types hold the bits of halves.
_TABLE = """
f32 <- f32 f32
add.{rn,rz,rm,rp}.ftz.f32
add.{rn,rz,rm,rp}.sat.f32
mul.{rn,rz,rm,rp}.ftz.f32
sub.{rn,rz,rm,rp}.ftz.sat.f32
div.rn.ftz.f32
{min,max}.ftz.f32
{min,max}.NaN.f32
min.xorsign.abs.f32
max.NaN.xorsign.abs.f32
copysign.f32
set.le.f32.f32
f32 <- f32 f32 f32
fma.{rn,rz,rm,rp}.ftz.f32
fma.{rn,rz,rm,rp}.sat.f32
slct.f32.f32
slct.ftz.f32.f32
f32 <- f32
{neg,abs}.f32
{neg,abs}.ftz.f32
{sqrt,rcp}.rn.ftz.f32
cvt.rni.ftz.f32.f32
cvt.rmi.sat.f32.f32
cvt.rzi.f32.f32
cvt.ftz.sat.f32.f32
f64 <- f64 f64
{copysign,min,max}.f64
f64 <- f64
{neg,abs}.f64
cvt.rpi.f64.f64
cvt.sat.f64.f64
u32 <- f32
cvt.{rni,rzi,rmi,rpi}.ftz.u32.f32
cvt.{rni,rzi,rmi,rpi}.{u8,s8}.f32
cvt.rna.tf32.f32
pred <- f32
testp.{finite,infinite,number,notanumber,normal,subnormal}.f32
pred <- f64
testp.{finite,infinite,number,notanumber,normal,subnormal}.f64
pred <- f32 f32
setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f32
setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.ftz.f32
pred <- f64 f64
setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64
pred <- u32 u32
setp.{lo,ls,hi,hs}.u32
pred <- hf16 hf16
setp.{eq,ne,lt,ge,equ,neu,ltu,geu,num,nan}.f16
pred <- hbf16 hbf16
setp.{eq,ne,lt,ge,equ,neu,ltu,geu,num,nan}.bf16
u32 <- f32 f32
set.lt.u32.f32
set.geu.ftz.u32.f32
u32 <- u32 u32 s32
slct.u32.s32
s32 <- s32 s32
{add,sub}.sat.s32
mul.hi.s32
mul24.{lo,hi}.s32
{min,max}.relu.s32
u32 <- u32 u32
mul.hi.u32
mul24.{lo,hi}.u32
shl.b32
shr.u32
bmsk.{clamp,wrap}.b32
szext.{clamp,wrap}.u32
s32 <- s32 u32
shr.s32
szext.{clamp,wrap}.s32
u64 <- u64 u32
shl.b64
shr.u64
s64 <- s64 u32
shr.s64
u16 <- u16 u32
shl.b16
shr.u16
s16 <- s16 u32
shr.s16
u64 <- u32 u32
mul.wide.u32
s64 <- s32 s32
mul.wide.s32
u32 <- u16 u16
mul.wide.u16
s16 <- s16 s16
mul.{hi,lo}.s16
{min,add}.s16
u16 <- u16 u16
mul.hi.u16
s64 <- s64 s64
mul.hi.s64
min.s64
s32 <- s32 s32 s32
mad.{lo,hi}.s32
mad.hi.sat.s32
mad24.{lo,hi}.s32
mad24.hi.sat.s32
sad.s32
bfe.s32
shf.{l,r}.{wrap,clamp}.b32
u32 <- u32 u32 u32
mad.hi.u32
mad24.hi.u32
sad.u32
bfe.u32
prmt.b32
prmt.b32.{f4e,b4e,rc8,ecl,ecr,rc16}
lop3.0x96: lop3.b32 %0, %1, %2, %3, 0x96;
lop3.0xe8: lop3.b32 %0, %1, %2, %3, 0xe8;
lop3.0xca: lop3.b32 %0, %1, %2, %3, 0xca;
lop3.0x17: lop3.b32 %0, %1, %2, %3, 0x17;
lop3.0x80: lop3.b32 %0, %1, %2, %3, 0x80;
bfi.b32: bfi.b32 %0, %1, %2, %3, 7;
bfi positions: bfi.b32 %0, %1, 0x12345678, %2, %3;
u64 <- u64 u32 u32
bfe.u64
s64 <- s64 u32 u32
bfe.s64
u32 <- u32
bfind.u32
bfind.shiftamt.u32
{brev,popc,clz,cnot,not}.b32
u32 <- s32
bfind.s32
bfind.shiftamt.s32
{abs,neg}.s32
cvt.sat.{u8,s8,u32}.s32
cvt.{u8,s8}.s32
u32 <- u64
bfind.u64
{popc,clz}.b64
u32 <- s64
bfind.s64
bfind.shiftamt.s64
cvt.sat.{u32,s32}.s64
s16 <- s32
cvt.sat.{s16,u16}.s32
s64 <- u64
cvt.sat.s64.u64
u32 <- s32 s32
cvt.pack.sat.{s16,u16}.s32
u32 <- s32 s32 u32
cvt.pack.sat.{u8,s8}.s32.b32
u64 <- u64 u64 u64
carry: {.reg .u64 h; add.cc.u64 h, %1, %2; addc.u64 %0, h, %3;}
borrow: {.reg .u64 h; sub.cc.u64 h, %1, %2; subc.u64 %0, h, %3;}
hf16 <- f32
cvt.{rn,rz,rn.ftz,rn.sat}.f16.f32
hbf16 <- f32
cvt.{rn,rz,rn.relu}.bf16.f32
hf16x2 <- f32 f32
cvt.{rn,rz,rn.relu}.f16x2.f32
hbf16x2 <- f32 f32
cvt.{rn,rz,rz.relu}.bf16x2.f32
u16 <- f32 f32
cvt.rn.satfinite.{e4m3x2,e5m2x2}.f32
cvt.rn.satfinite.relu.{e4m3x2,e5m2x2}.f32
u16 <- hf16x2
cvt.rn.satfinite.{e4m3x2,e5m2x2}.f16x2
hf16x2 <- u16
cvt.rn.f16x2.{e4m3x2,e5m2x2}
cvt.rn.relu.f16x2.{e4m3x2,e5m2x2}
f64 <- hf16
cvt.f64.f16
hf16 <- f64
cvt.{rn,rz,rm,rp}.f16.f64
f32 <- hf16
cvt.f32.f16
cvt.ftz.f32.f16
s32 <- hf16
cvt.{rni,rzi,rmi,rpi}.{s32,u32}.f16
hf16 <- hf16
cvt.{rni,rzi,rmi,rpi}.f16.f16
{neg,abs}.f16
{neg,abs}.ftz.f16
hbf16 <- hbf16
{neg,abs}.bf16
hf16x2 <- hf16x2
{neg,abs}.f16x2
hbf16x2 <- hbf16x2
{neg,abs}.bf16x2
hf16 <- hf16 hf16
{add,sub,mul,min}.ftz.f16
{add,mul}.rn.sat.f16
{min,max}.f16
{min,max}.NaN.f16
min.xorsign.abs.f16
hbf16 <- hbf16 hbf16
{add,sub,mul,min,max}.bf16
min.NaN.bf16
max.NaN.xorsign.abs.bf16
hf16x2 <- hf16x2 hf16x2
{add,mul}.ftz.f16x2
add.rn.sat.f16x2
max.NaN.f16x2
min.xorsign.abs.f16x2
hbf16x2 <- hbf16x2 hbf16x2
{add,mul}.bf16x2
min.NaN.bf16x2
hf16 <- hf16 hf16 hf16
fma.{rn,rn.ftz,rn.sat,rn.relu,rn.ftz.relu}.f16
hbf16 <- hbf16 hbf16 hbf16
fma.{rn,rn.relu}.bf16
hf16x2 <- hf16x2 hf16x2 hf16x2
fma.{rn.ftz,rn.relu}.f16x2
hbf16x2 <- hbf16x2 hbf16x2 hbf16x2
fma.{rn,rn.relu}.bf16x2
"""


def _expand(text: str) -> list[str]:
    """Replaces `{a,b}` by each of its words; text after a colon stays."""
    match = None if ": " in text else re.search(r"\{([^}]*)\}", text)
    if match is None:
        return [text]
    before, after = text[: match.start()], text[match.end() :]
    return [
        line for word in match[1].split(",") for line in _expand(before + word + after)
    ]


def _read(table: str) -> list[Operation]:
    found: list[Operation] = []
    result = types = ""
    for text in table.strip().splitlines():
        if "<-" in text:
            result, types = text.split(" <- ")
            continue
        for line in _expand(text):
            if result == "pred":
                sources = ", ".join(f"%{k + 1}" for k in range(len(types.split())))
                select = f"{line} p, {sources}; selp.u32 %0, 1, 0, p;"
                line = f"{line}: {{.reg .pred p; {select}}}"
            found += ptx("u32" if result == "pred" else result, types, line)
    return found


PTX_OPERATIONS = _read(_TABLE)
