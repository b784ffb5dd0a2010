/**
 * AssemblyScript that stands in for the vector type and its operations: sixteen bytes in memory, and a loop over the
 * lanes for each operation. With it the sources of the core compile without the SIMD feature, to a build that has not one
 * vector instruction, and must answer as the released one does.
 *
 * ```text
 *   v128          -> vector, an unmanaged class: a pointer to 16 bytes of the arena
 *   i8x16.eq      -> lanes8.eq        i8x16(1, 2, ...)  -> lanes8.make(1, 2, ...)
 *   arena         | 16 | 16 | 16 | ... results of operations, taken in a row; `resetArena` before each call
 * ```
 *
 * An operation that the core uses and this file does not have is an error of the compiler that names it.
 */
const ARENA_BYTES = 8 * 2 ** 20;

interface Shape {
  readonly name: string;
  readonly bits: number;
}

const SHAPES: readonly Shape[] = [
  { name: 'lanes8', bits: 8 },
  { name: 'lanes16', bits: 16 },
  { name: 'lanes32', bits: 32 },
  { name: 'lanes64', bits: 64 },
];

/** The source of the stand-in. */
export function scalarSource(): string {
  return [ARENA, VECTOR, ...SHAPES.map(lanesOf)].join('\n');
}

/** A source file of the core that uses the stand-in instead of the built-in vectors. */
export function withoutSimd(source: string): string {
  const replaced = source
    .replace(/\bi(8x16|16x8|32x4|64x2)\(/g, (_text, shape: string) => `lanes${shape.split('x')[0]}.make(`)
    .replace(/\bi(8x16|16x8|32x4|64x2)\b/g, (_text, shape: string) => `lanes${shape.split('x')[0]}`)
    // Method names such as extmul_low_i32x4_u keep theirs; only the type and the namespaces are renamed.
    .replace(/\bv128\b/g, 'vector');
  const used = ['vector', ...SHAPES.map(({ name }) => name)].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(replaced),
  );
  return used.length === 0 ? source : `import { ${used.join(', ')} } from './scalar-simd';\n${replaced}`;
}

const ARENA = `
const arena: usize = memory.data(${ARENA_BYTES}, 16);
let next: usize = arena;
let floor: usize = arena;
/** Constants of files are made at the start, and stay. */
export function keepArena(): void { floor = next; }
export function resetArena(): void { next = floor; }
function cell(): usize {
  assert(next < arena + ${ARENA_BYTES});
  next += 16;
  return next - 16;
}
@inline function at(v: vector): usize { return changetype<usize>(v); }
`;

const VECTOR = `
@unmanaged
export class vector {
  low: u64;
  high: u64;
  static load(from: usize, offset: usize = 0): vector {
    const r = changetype<vector>(cell());
    // Read before written: an arena cell is never part of what is read.
    r.low = load<u64>(from + offset);
    r.high = load<u64>(from + offset + 8);
    return r;
  }
  static store(to: usize, v: vector, offset: usize = 0): void {
    store<u64>(to + offset, v.low);
    store<u64>(to + offset + 8, v.high);
  }
  static pair(low: u64, high: u64): vector {
    const r = changetype<vector>(cell());
    r.low = low;
    r.high = high;
    return r;
  }
  static load64_zero(from: usize, offset: usize = 0): vector { return vector.pair(load<u64>(from + offset), 0); }
  static load32_zero(from: usize, offset: usize = 0): vector { return vector.pair(load<u32>(from + offset), 0); }
  static load64_splat(from: usize, offset: usize = 0): vector { return lanes64.splat(load<u64>(from + offset)); }
  static load32_splat(from: usize, offset: usize = 0): vector { return lanes32.splat(load<i32>(from + offset)); }
  static load8_splat(from: usize, offset: usize = 0): vector { return lanes8.splat(load<i8>(from + offset)); }
  static and(a: vector, b: vector): vector { return vector.pair(a.low & b.low, a.high & b.high); }
  static or(a: vector, b: vector): vector { return vector.pair(a.low | b.low, a.high | b.high); }
  static xor(a: vector, b: vector): vector { return vector.pair(a.low ^ b.low, a.high ^ b.high); }
  static andnot(a: vector, b: vector): vector { return vector.pair(a.low & ~b.low, a.high & ~b.high); }
  static not(a: vector): vector { return vector.pair(~a.low, ~a.high); }
  static bitselect(a: vector, b: vector, mask: vector): vector {
    return vector.pair((a.low & mask.low) | (b.low & ~mask.low), (a.high & mask.high) | (b.high & ~mask.high));
  }
  static any_true(a: vector): bool { return (a.low | a.high) != 0; }
  static swizzle(a: vector, s: vector): vector {
    const r = cell();
    for (let i: usize = 0; i < 16; i++) {
      const from = <usize>load<u8>(at(s) + i);
      store<u8>(r + i, from < 16 ? load<u8>(at(a) + from) : 0);
    }
    return changetype<vector>(r);
  }
  static shuffle<T>(a: vector, b: vector, l0: u8, l1: u8, l2: u8 = 0, l3: u8 = 0, l4: u8 = 0, l5: u8 = 0, l6: u8 = 0,
    l7: u8 = 0, l8: u8 = 0, l9: u8 = 0, l10: u8 = 0, l11: u8 = 0, l12: u8 = 0, l13: u8 = 0, l14: u8 = 0, l15: u8 = 0): vector {
    const picks = cell();
    ${Array.from({ length: 16 }, (_, lane) => `store<u8>(picks, l${lane}, ${lane});`).join(' ')}
    const r = cell();
    const count: usize = 16 / sizeof<T>();
    for (let i: usize = 0; i < count; i++) {
      const pick = <usize>load<u8>(picks + i);
      const from = pick < count ? at(a) + pick * sizeof<T>() : at(b) + (pick - count) * sizeof<T>();
      store<T>(r + i * sizeof<T>(), load<T>(from));
    }
    return changetype<vector>(r);
  }
}
`;

/** All operations on lanes of one width. */
function lanesOf({ name, bits }: Shape): string {
  const [signed, unsigned] = [`i${bits}`, `u${bits}`];
  const size = bits / 8;
  const count = 16 / size;
  const each = (body: string): string => `const r = cell();
    for (let i: usize = 0; i < 16; i += ${size}) ${body}
    return changetype<vector>(r);`;
  const binary = (operation: string, type: string, result: (a: string, b: string) => string): string =>
    `export function ${operation}(a: vector, b: vector): vector { ${each(
      `store<${type}>(r + i, <${type}>(${result(`load<${type}>(at(a) + i)`, `load<${type}>(at(b) + i)`)}));`,
    )} }`;
  const compare = (operation: string, sign: string, type: string): string =>
    binary(operation, type, (a, b) => `${a} ${sign} ${b} ? -1 : 0`);
  const shift = (operation: string, sign: string, type: string): string =>
    `export function ${operation}(a: vector, by: i32): vector { ${each(
      `store<${type}>(r + i, <${type}>(load<${type}>(at(a) + i) ${sign} (<${type}>(by & ${bits - 1}))));`,
    )} }`;
  const parameters = Array.from({ length: count }, (_, lane) => `v${lane}: ${signed}`).join(', ');
  const small = bits < 32 ? signed : bits === 32 ? 'i32' : 'i64';
  return `
export namespace ${name} {
  export function make(${parameters}): vector {
    const r = cell();
    ${Array.from({ length: count }, (_, lane) => `store<${signed}>(r, v${lane}, ${lane * size});`).join(' ')}
    return changetype<vector>(r);
  }
  export function splat(value: ${signed}): vector { ${each(`store<${signed}>(r + i, value);`)} }
  ${[
    ...[['add', '+'], ['sub', '-'], ...(bits === 8 ? [] : [['mul', '*']])].map(([operation = '', sign = '']) =>
      binary(operation, unsigned, (a, b) => `${a} ${sign} ${b}`),
    ),
    ...[
      ['eq', '==', signed],
      ['ne', '!=', signed],
      ...['lt <', 'le <=', 'gt >', 'ge >='].flatMap((pair) => {
        const [operation, sign] = pair.split(' ');
        return [[`${operation}_s`, sign, signed], ...(bits === 64 ? [] : [[`${operation}_u`, sign, unsigned]])];
      }),
    ].map(([operation = '', sign = '', type = '']) => compare(operation, sign, type)),
    binary('min_u', unsigned, (a, b) => `${a} < ${b} ? ${a} : ${b}`),
    binary('max_u', unsigned, (a, b) => `${a} > ${b} ? ${a} : ${b}`),
    shift('shl', '<<', unsigned),
    shift('shr_u', '>>', unsigned),
    shift('shr_s', '>>', signed),
  ].join('\n  ')}
  export function bitmask(a: vector): i32 {
    let mask: i32 = 0;
    for (let i: usize = 0; i < 16; i += ${size}) if (load<${signed}>(at(a) + i) < 0) mask |= 1 << <i32>(i / ${size});
    return mask;
  }
  export function all_true(a: vector): bool {
    for (let i: usize = 0; i < 16; i += ${size}) if (load<${signed}>(at(a) + i) == 0) return false;
    return true;
  }
  export function extract_lane${bits < 32 ? '_s' : ''}(a: vector, lane: u8): ${small} { return load<${signed}>(at(a) + <usize>lane * ${size}); }
  ${bits < 32 ? `export function extract_lane_u(a: vector, lane: u8): ${unsigned} { return load<${unsigned}>(at(a) + <usize>lane * ${size}); }` : ''}
  export function replace_lane(a: vector, lane: u8, value: ${signed}): vector {
    const r = vector.pair(a.low, a.high);
    store<${signed}>(at(r) + <usize>lane * ${size}, value);
    return r;
  }
  ${bits === 8 ? 'export function swizzle(a: vector, s: vector): vector { return vector.swizzle(a, s); }' : ''}
  ${bits === 64 ? EXTENDED_PRODUCTS : ''}
}`;
}

/** Products of the halves' 32-bit lanes, the only operation with lanes of two widths that XXH3 needs. */
const EXTENDED_PRODUCTS = ['low', 'high']
  .flatMap((half) =>
    ['s', 'u'].map((sign) => {
      const [narrow, wide] = sign === 's' ? ['i32', 'i64'] : ['u32', 'u64'];
      const lane = (vector: string, index: number): string =>
        `<${wide}>load<${narrow}>(at(${vector}), ${(half === 'low' ? 0 : 8) + index * 4})`;
      return `export function extmul_${half}_i32x4_${sign}(a: vector, b: vector): vector {
    return vector.pair(<u64>(${lane('a', 0)} * ${lane('b', 0)}), <u64>(${lane('a', 1)} * ${lane('b', 1)}));
  }`;
    }),
  )
  .join('\n  ');
