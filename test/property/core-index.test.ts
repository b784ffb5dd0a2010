import { beforeAll, describe, it } from 'vitest';
import { KeyIndex } from '../../src/core/key-index.ts';
import { compareKeyText } from '../../src/core/key-order.ts';
import { coreModule } from '../../src/core/module.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { compileTinyCore } from '../support/tiny-core.ts';

/** A random program on the key index by itself, with every answer compared to that of a sorted array. */
class IndexProgram {
  readonly #index: KeyIndex;
  readonly #random: () => number;
  readonly #space: readonly string[];
  readonly #ids = new Map<string, number>();
  #sorted: string[] | undefined;

  constructor(module: WebAssembly.Module, seed: number) {
    this.#random = createSeededRandom(seed);
    this.#index = new KeyIndex(module, { lean: this.#random() < 0.5 });
    const size = 2 + this.#below(200);
    const kind = this.#below(3);
    this.#space = Array.from({ length: size }, () => {
      if (kind === 0) return `/registry/pods/ns-${this.#below(3)}/app-${this.#below(size)}`;
      if (kind === 1) return `${'shared/'.repeat(this.#below(3))}${['a', 'é', '\u{1f600}', '\ue000'][this.#below(4)]}`;
      return String.fromCharCode(...Array.from({ length: 1 + this.#below(4) }, () => 97 + this.#below(3)));
    });
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step++) {
      const dice = this.#random();
      if (dice < 0.4) this.#insert(this.#key());
      else if (dice < 0.6) this.#delete(this.#key());
      else if (dice < 0.62) for (const key of this.#space) this.#random() < 0.9 ? this.#delete(key) : this.#insert(key);
      else if (dice < 0.64) this.#turnPages();
      else this.#compare();
      if (this.#random() < 0.1) this.#index.verify();
    }
    this.#index.verify();
  }

  #insert(key: string): void {
    const id = this.#index.insert(key);
    const known = this.#ids.get(key);
    if (known !== undefined) {
      same('insert', id, known);
      return;
    }
    if ([...this.#ids.values()].includes(id)) throw new Error(`id ${id} was given out twice`);
    this.#ids.set(key, id);
    this.#sorted = undefined;
  }

  #delete(key: string): void {
    same('delete', this.#index.delete(key), this.#ids.get(key) ?? -1);
    if (this.#ids.delete(key)) this.#sorted = undefined;
  }

  /** Pages with writes between them, which may grow the memory: each is a list of what is then behind the one before. */
  #turnPages(): void {
    const [start, other, size] = [this.#key(), this.#key(), 1 + this.#below(6)];
    const end = this.#random() < 0.5 ? '' : other;
    let expected = this.#listed(start, end, size);
    let isLast = false;
    for (const page of this.#index.pages(start, end, size)) {
      if (isLast) throw new Error('a page behind the last one');
      same('page', [...page].join(), expected.map((text) => this.#ids.get(text)).join());
      isLast = page.length < size;
      const from = `${expected.at(-1)}\0`;
      for (let writes = this.#below(8); writes > 0; writes--) {
        if (this.#random() < 0.05) this.#insert(`${this.#key()}${'long'.repeat(this.#below(30_000))}`);
        else if (this.#random() < 0.5) this.#insert(this.#key());
        else this.#delete(this.#random() < 0.5 ? this.#key() : (expected.at(-1) ?? ''));
      }
      expected = this.#listed(from, end, size);
    }
    if (!isLast) same('keys behind the last page', expected.length, 0);
  }

  #listed(start: string, end: string, limit: number): readonly string[] {
    const isInside = (text: string): boolean =>
      compareKeyText(text, start) >= 0 && (end === '' || compareKeyText(text, end) < 0);
    return this.#all().filter(isInside).slice(0, limit);
  }

  #all(): readonly string[] {
    this.#sorted ??= [...this.#ids.keys()].sort(compareKeyText);
    return this.#sorted;
  }

  #compare(): void {
    const sorted = this.#all();
    const [key, start, other] = [this.#key(), this.#key(), this.#key()];
    const end = this.#random() < 0.2 ? '' : other;
    const inside = sorted.filter(
      (text) => compareKeyText(text, start) >= 0 && (end === '' || compareKeyText(text, end) < 0),
    );
    const ids = inside.map((text) => this.#ids.get(text) as number);
    const limit = this.#below(12);
    same('get', this.#index.get(key), this.#ids.get(key) ?? -1);
    same('list', [...this.#index.list(start, end, limit)].join(), (limit === 0 ? ids : ids.slice(0, limit)).join());
    same('count', this.#index.count(start, end), ids.length);
    same('rank', this.#index.rank(key), sorted.filter((text) => compareKeyText(text, key) < 0).length);
    const rank = this.#below(sorted.length + 2);
    same('at', this.#index.at(rank), this.#ids.get(sorted[rank] ?? '') ?? -1);
    const pages = [...this.#index.pages(start, end, 1 + limit)].flatMap((page) => [...page]);
    same('pages', pages.length, ids.length);
    const text = inside[this.#below(inside.length)];
    if (text !== undefined) same('keyOf', this.#index.keyOf(this.#ids.get(text) as number), text);
    same('size', this.#index.size, sorted.length);
  }

  #key(): string {
    return this.#space[this.#below(this.#space.length)] as string;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

function same(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: got ${String(actual)}, expected ${String(expected)}`);
}

function runPrograms(module: WebAssembly.Module, count: number): void {
  for (let index = 0; index < count; index++) {
    const seed = testSeed() + index;
    try {
      new IndexProgram(module, seed).run(40 + (index % 5) * 60);
    } catch (error) {
      throw new Error(`index program ${seed} fails; ${reproduce('property')}`, { cause: error });
    }
  }
}

describe('the key index against a sorted array', () => {
  let tiny: WebAssembly.Module;
  beforeAll(async () => {
    tiny = await compileTinyCore();
  });

  it('answers alike, with pages of eight entries', () => {
    runPrograms(tiny, sized({ smoke: 400, full: 10_000 }));
  });

  it('answers alike, as released', () => {
    runPrograms(coreModule(), sized({ smoke: 100, full: 2_000 }));
  });
});
