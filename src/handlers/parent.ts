import type { PlanEntry } from './record.ts';
import type { Handler } from './registry.ts';

/**
 * Who may register subs: a handler, or a planned sub of one. Where it stands, from itself up to its handler.
 *
 * ```text
 *   handler  "rollout"           entry none     parent none
 *   sub      "rollout/eu"        entry "eu"     parent "rollout"
 *   sub      "rollout/eu/web"    entry "web"    parent "rollout/eu"
 * ```
 */
export interface Parent {
  /** Names the record. */
  readonly id: string;
  /** The one at the root. */
  readonly handler: Handler;
  /** In the plan of `parent`; `undefined` for a handler. */
  readonly entry: PlanEntry | undefined;
  readonly parent: Parent | undefined;
}
