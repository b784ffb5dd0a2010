// @ts-check
// Writes a watch stream to an API server as a client would: POST, PUT, PUT of the status, DELETE. Uids and versions are the server's.
import { kindText, pathOf } from './kinds.mjs';
import { contentText, groupVersionKind, keyText } from './objects.mjs';

/**
 * @typedef {import('./objects.mjs').KubernetesObject} KubernetesObject
 * @typedef {import('./kinds.mjs').StreamKind} StreamKind
 *
 * @typedef {{ status: number, body: any }} Answer
 * @typedef {(method: string, path: string, body?: object) => Promise<Answer>} Call
 *
 * What was written of an object, and what the server said of it.
 * @typedef {object} Written
 * @property {StreamKind} kind
 * @property {string} namespace
 * @property {string} name
 * @property {KubernetesObject} object As it was sent last.
 * @property {string} uid
 * @property {string} resourceVersion
 * @property {boolean} isLeaving It was deleted, and waits for its finalizers.
 */

/** Keeps what the stream deletes in two steps, as a grace period would; the second step takes it away. */
const HOLD = 'plimsoll.example/hold';

/** One client of the server; nobody else writes. */
export class Feed {
  /** @type {Map<string, Written>} */
  written = new Map();
  /** By the text of a kind: the newest that was taken of it. @type {Map<string, KubernetesObject>} */
  accepted = new Map();
  counts = { events: 0, requests: 0, refused: 0 };
  /** How often a request was refused, by what the server said. @type {Map<string, number>} */
  refusals = new Map();
  /** By the uid of the stream: the server's, for owner references. @type {Map<string, string>} */
  #uids = new Map();
  #call;
  #kinds;
  #names;

  /**
   * @param {Call} call
   * @param {ReadonlyMap<string, StreamKind>} kinds
   * @param {import('./names.mjs').Names} names
   */
  constructor(call, kinds, names) {
    this.#call = call;
    this.#kinds = kinds;
    this.#names = names;
  }

  /** @param {import('./objects.mjs').StreamEvent} event */
  async apply({ type, object }) {
    this.counts.events++;
    if (type === 'BOOKMARK') return;
    const { group, version, kind: kindName } = groupVersionKind(object);
    const kind = this.#kinds.get(kindText({ group, kind: kindName }));
    if (kind === undefined) return this.#count('its kind is not served');
    const { namespace = '' } = object.metadata;
    const name = this.#names.nameOf(object);
    const key = keyText({ group, kind: kindName, namespace, name });
    const known = this.written.get(key);
    const wanted = this.#sent(object, name);
    if (type === 'ADDED') return this.#create(key, { kind, version, namespace, name }, object, wanted);
    // Of an object that the server has refused there is nothing to write.
    if (known === undefined) return this.#count('not there: it was refused before');
    if (type === 'DELETED') return this.#remove(key, known, version, wanted);
    await this.#change(known, version, wanted, object.metadata.deletionTimestamp !== undefined);
  }

  /** Objects that the stream has at this point, by key: their content as it was sent. */
  truth() {
    return new Map(
      [...this.written].map(([key, { object, isLeaving }]) => {
        const metadata = { ...object.metadata, ...(isLeaving ? LEAVING : {}) };
        return [key, contentText({ ...object, metadata })];
      }),
    );
  }

  /**
   * What a client sends of it.
   *
   * @param {KubernetesObject} object
   * @param {string} name
   * @returns {KubernetesObject}
   */
  #sent(object, name) {
    const { ownerReferences, ...metadata } = object.metadata;
    for (const member of SERVERS) Reflect.deleteProperty(metadata, member);
    const owners = ownerReferences?.map((owner) => ({ ...owner, uid: this.#uids.get(String(owner.uid)) ?? owner.uid }));
    return { ...object, metadata: { ...metadata, name, ...(owners === undefined ? {} : { ownerReferences: owners }) } };
  }

  /**
   * @param {string} key
   * @param {{ kind: StreamKind, version: string, namespace: string, name: string }} place
   * @param {KubernetesObject} object
   * @param {KubernetesObject} wanted
   */
  async #create(key, { kind, version, namespace, name }, object, wanted) {
    const made = await this.#ask('POST', pathOf(kind, { version, namespace }), wanted);
    if (made === undefined) return;
    const { uid, resourceVersion } = made.metadata;
    this.#uids.set(String(object.metadata.uid), uid);
    this.accepted.set(kindText(kind), wanted);
    const without = kind.status ? { ...wanted, status: undefined } : wanted;
    /** @type {Written} */
    const written = { kind, namespace, name, object: without, uid, resourceVersion, isLeaving: false };
    this.written.set(key, written);
    await this.#putStatus(written, version, wanted);
  }

  /**
   * @param {Written} written
   * @param {string} version
   * @param {KubernetesObject} wanted
   * @param {boolean} leaves
   */
  async #change(written, version, wanted, leaves) {
    const { isLeaving, object } = written;
    const beginsToLeave = leaves && !isLeaving;
    const finalizers = [...(wanted.metadata.finalizers ?? []), ...(leaves ? [HOLD] : [])]
      // While it is on its way out, none can be added.
      .filter((one) => !isLeaving || object.metadata.finalizers?.includes(one));
    const next = withFinalizers(wanted, finalizers);
    if (!written.kind.status || !isStatusAlone(object, next)) await this.#put(written, version, next);
    await this.#putStatus(written, version, wanted);
    if (!beginsToLeave) return;
    if ((await this.#ask('DELETE', `${placeOf(written, version)}?gracePeriodSeconds=0`)) !== undefined)
      written.isLeaving = true;
    await this.#reread(written, version);
  }

  /**
   * @param {string} key
   * @param {Written} written
   * @param {string} version
   * @param {KubernetesObject} wanted its last state
   */
  async #remove(key, written, version, wanted) {
    const finalizers = written.object.metadata.finalizers ?? [];
    const isHeld = finalizers.length > 0;
    const isFree = !isHeld || (await this.#put(written, version, withFinalizers(wanted, [])));
    // The last finalizer of an object that was deleted takes it away.
    const isGone = isFree && written.isLeaving && isHeld;
    if (isGone || (await this.#ask('DELETE', `${placeOf(written, version)}?gracePeriodSeconds=0`)) !== undefined)
      this.written.delete(key);
  }

  /**
   * @param {Written} written
   * @param {string} version
   * @param {KubernetesObject} next
   */
  async #put(written, version, next) {
    const { uid, resourceVersion, object } = written;
    const metadata = { ...next.metadata, uid, resourceVersion };
    const answer = await this.#ask('PUT', placeOf(written, version), { ...next, metadata });
    if (answer === undefined) return false;
    // A write of a kind whose status is a subresource keeps the one that is there.
    written.object = written.kind.status ? { ...next, status: object.status } : next;
    written.resourceVersion = answer.metadata.resourceVersion;
    return true;
  }

  /**
   * @param {Written} written
   * @param {string} version
   * @param {KubernetesObject} wanted
   */
  async #putStatus(written, version, wanted) {
    const { kind, object, uid, resourceVersion } = written;
    if (!kind.status || JSON.stringify(object.status) === JSON.stringify(wanted.status)) return;
    const body = { ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion } };
    const answer = await this.#ask('PUT', placeOf(written, version, 'status'), body);
    if (answer === undefined) return;
    written.object = { ...object, status: wanted.status };
    written.resourceVersion = answer.metadata.resourceVersion;
  }

  /**
   * @param {Written} written
   * @param {string} version
   */
  async #reread(written, version) {
    const answer = await this.#ask('GET', placeOf(written, version));
    if (answer !== undefined) written.resourceVersion = answer.metadata.resourceVersion;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   */
  async #ask(method, path, body) {
    this.counts.requests++;
    const { status, body: answer } = await this.#call(method, path, body);
    if (status < 300) return answer;
    const said = `${method} ${status} ${answer.reason ?? ''}: ${String(answer.message ?? '').replace(/^.*? is invalid: /, '')}`;
    this.#count(said.slice(0, 160));
    return undefined;
  }

  /** @param {string} said */
  #count(said) {
    this.counts.refused++;
    this.refusals.set(said, (this.refusals.get(said) ?? 0) + 1);
  }
}

/** What a server sets by itself; the last two by a DELETE. */
const SERVERS = [
  ...['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'selfLink'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds'],
];
const LEAVING = { deletionTimestamp: 'set', deletionGracePeriodSeconds: 'set' };

/**
 * @param {Written} written
 * @param {string} version
 * @param {string} [sub]
 */
function placeOf({ kind, namespace, name }, version, sub) {
  return pathOf(kind, sub === undefined ? { version, namespace, name } : { version, namespace, name, sub });
}

/**
 * @param {KubernetesObject} object
 * @param {readonly string[]} finalizers
 * @returns {KubernetesObject}
 */
function withFinalizers({ metadata: { finalizers: _, ...metadata }, ...rest }, finalizers) {
  return { ...rest, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers } };
}

/**
 * Whether `next` differs in its status, and in nothing else.
 *
 * @param {KubernetesObject} before
 * @param {KubernetesObject} next
 */
function isStatusAlone(before, next) {
  if (JSON.stringify(before.status) === JSON.stringify(next.status)) return false;
  return contentText({ ...before, status: undefined }) === contentText({ ...next, status: undefined });
}
