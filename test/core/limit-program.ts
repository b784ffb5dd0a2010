import type { CoreExports } from '../../src/core/abi.ts';
import { STATUS_FULL, STATUS_OK } from '../../src/core/abi.ts';
import { DEPTH_MAX } from '../../src/core/canonical-text.ts';
import { CoreInstance } from '../../src/core/instance.ts';
import type { Dice } from '../etcd/dice.ts';
import { oracleText } from '../unit/essence/oracle.ts';
import { parse } from './byte-program.ts';
import { makeDocument } from './hostile-bytes.ts';
import { faultOf } from './json-reference.ts';

/**
 * The essence at its memory limit: a set of rules and a few documents, on a core that has some bytes more than it starts
 * with. Every call does as it should or says that there is no room; then there is room, and the same core does all of it.
 */
const EXCLUDED = 2;
const ROOT = 1;
const REGION_TEXT = 0;
const UNDECIDED = -17;

export function runLimitProgram(module: WebAssembly.Module, dice: Dice): void {
  const core = new CoreInstance(module);
  const { exports } = core;
  exports.setMemoryLimit(exports.claimedBytes() + dice.pick([0, 100, 4200, 9000, 20_000, 60_000, 200_000]));
  const rules = loadRules(core, dice);
  const documents = Array.from({ length: 3 }, () => large(makeDocument(dice), dice)).filter(
    (document) => faultOf(document, DEPTH_MAX) === undefined,
  );
  for (const document of documents) check(core, document, rules, true);
  exports.setMemoryLimit(0x7fff0000);
  for (const document of documents) check(core, document, rules, false);
}

/** Names left out at the top of a document, and elements: as many as there was room for. `undefined` means no rules. */
function loadRules(core: CoreInstance, dice: Dice): readonly string[] | undefined {
  const { exports } = core;
  const names = ['a', 'b', 'metadata', 'é', '😂', 'n'.repeat(1 + dice.upTo(3000))].slice(dice.upTo(6));
  const nodes = dice.pick([5, 5, 5, 40_000]);
  const status = exports.essenceRules(nodes, names.length + 1, ROOT);
  if (status === STATUS_FULL) return undefined;
  if (status !== STATUS_OK) throw new Error(`essenceRules answered ${status}`);
  // Some names more than there is memory for; the region for them is there.
  exports.inputRegion(4000);
  if (dice.chance(0.3)) exports.setMemoryLimit(exports.claimedBytes() + dice.pick([0, 50, 1500]));
  exports.essenceAnnotationNodes(3, 4, 5);
  for (const node of [ROOT, 3, 4, 5]) exports.essenceRuleNode(node, 0, 0);
  exports.essenceRuleNode(EXCLUDED, 1, 0);
  exports.essenceRuleIndex(ROOT, 0, EXCLUDED);
  const loaded: string[] = [];
  for (const name of names) {
    const bytes = new TextEncoder().encode(name);
    const pointer = exports.inputRegion(bytes.length);
    if (pointer === 0) continue;
    core.bytes().set(bytes, pointer);
    const answer = exports.essenceRuleName(ROOT, bytes.length, EXCLUDED);
    if (answer === STATUS_OK) loaded.push(name);
    else if (answer !== STATUS_FULL) throw new Error(`essenceRuleName answered ${answer}`);
  }
  return loaded;
}

/** Sometimes a document that takes more than the first regions. */
function large(document: Uint8Array, dice: Dice): Uint8Array {
  const copies = dice.pick([1, 1, 1, 8, 60]);
  const parts = ['[', ...Array.from({ length: copies }, () => Buffer.from(document).toString()).join(','), ']'];
  return new TextEncoder().encode(parts.join(''));
}

function check(core: CoreInstance, bytes: Uint8Array, rules: readonly string[] | undefined, isLimited: boolean): void {
  const { exports } = core;
  const pointer = exports.inputRegion(bytes.length);
  if (pointer === 0 && isLimited) return;
  core.bytes().set(bytes, pointer);
  // Either may be the one that first finds no room.
  const digest = exports.essenceDigest(bytes.length, 0);
  const length = exports.essenceScan(bytes.length, 0);
  if (length === STATUS_FULL && isLimited) return;
  if (digest !== length && digest < 0 !== length < 0 && digest !== STATUS_FULL) {
    throw new Error(`essenceDigest answers ${digest}, and essenceScan ${length}`);
  }
  if (length === UNDECIDED) return;
  const parsed = parse(bytes);
  const refused = length < 0 ? `answer ${length}, byte ${refusal(exports)}` : undefined;
  if (refused !== undefined) throw new Error(`a valid text is refused: ${refused}`);
  const text = Buffer.from(core.bytes().subarray(exports.essenceRegion(REGION_TEXT)).subarray(0, length)).toString();
  const ignore = rules === undefined ? [] : ['/0', ...rules.map((name) => `/${name}`)];
  const expected = oracleText(parsed?.value, { defaults: false, ignore });
  if (text !== expected) throw new Error(`the text is ${text}, and should be ${expected}`);
}

function refusal(exports: CoreExports): string {
  return `${exports.essenceFaultOffset()} (${exports.essenceFault()})`;
}
