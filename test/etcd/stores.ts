import { isDeepStrictEqual } from 'node:util';
import { areBothFaults } from './faults.ts';
import { type Coverage, marksOf } from './marks.ts';
import { show } from './program.ts';
import type { Answer, Call, Subject } from './subject.ts';

/** The embedded store and etcd answered differently. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';

  constructor(message: string) {
    super(message);
  }

  static of(what: string, memory: unknown, etcd: unknown): Mismatch {
    return new Mismatch(`${what}\n      embedded ${show(memory)}\n      etcd     ${show(etcd)}`);
  }
}

/** Both stores at one point of a program. */
export class Stores {
  readonly memory: Subject;
  readonly etcd: Subject;
  readonly mark: Coverage;
  /** The newest revision, and the compact revision. */
  revision = 1;
  compacted = 0;

  constructor(memory: Subject, etcd: Subject, mark: Coverage) {
    this.memory = memory;
    this.etcd = etcd;
    this.mark = mark;
  }

  /** One call on both; answers have to be equal in every field. */
  async perform(call: Call): Promise<Answer> {
    const memory = await this.memory.perform(call);
    const etcd = await this.etcd.perform(call);
    if (!isDeepStrictEqual(memory, etcd)) {
      if (!areBothFaults(call, memory, etcd, this)) throw Mismatch.of(show(call), memory, etcd);
      this.mark(`${call.op}: two faults, one told by each`);
      return memory;
    }
    for (const mark of marksOf(call, memory, this)) this.mark(mark);
    if (typeof memory.revision === 'number') this.revision = memory.revision;
    if (call.op === 'compact' && memory.error === undefined) this.compacted = call.revision;
    return memory;
  }
}
