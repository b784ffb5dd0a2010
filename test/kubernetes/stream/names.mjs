// @ts-check
// Names of a stream that a server of Kubernetes would not take as they are. The real objects come from files, where a name may be
// anything, and the stream has each version of a kind by itself. No event is left out: such an object is written under another name, one to one.
import { createHash } from 'node:crypto';
import { groupVersionKind, keyText } from './objects.mjs';

/** Kubernetes' DNS subdomain: the rule for custom resources, and for most kinds of its own. */
const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** Its rule for roles and their bindings: what is one segment of a path. */
const SEGMENT = /^(?!\.{1,2}$)[^/%]+$/;

/** The names by which the objects of a stream are written. */
export class Names {
  /** By key: the version that had it first. @type {Map<string, string>} */
  #first = new Map();
  /** Written otherwise, by the reason. @type {{ refused: Set<string>, otherVersion: Set<string> }} */
  counts = { refused: new Set(), otherVersion: new Set() };

  /** @param {import('./objects.mjs').KubernetesObject} object */
  nameOf(object) {
    const { group, version, kind } = groupVersionKind(object);
    const { namespace = '', name } = object.metadata;
    const key = keyText({ group, kind, namespace, name });
    const first = this.#first.get(key) ?? version;
    this.#first.set(key, first);
    const legal = this.#legalName(group, key, name);
    if (first === version) return legal;
    // The objects of all versions of a kind are one set, and this name is taken in it.
    this.counts.otherVersion.add(`${version} ${key}`);
    return `${legal}.${version}`;
  }

  /**
   * @param {string} group
   * @param {string} key
   * @param {string} name
   */
  #legalName(group, key, name) {
    const rule = group === 'rbac.authorization.k8s.io' ? SEGMENT : SUBDOMAIN;
    if (rule.test(name)) return name;
    this.counts.refused.add(key);
    const labels = name
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      .split('.')
      .map((label) => label.replaceAll(/^-+|-+$/g, ''))
      .filter((label) => label !== '');
    const digest = createHash('sha256').update(name).digest('hex').slice(0, 12);
    return `${labels.join('.').slice(0, 200)}.${digest}`;
  }
}
