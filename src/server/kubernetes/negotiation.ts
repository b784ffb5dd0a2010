import { refuse } from './api-status.ts';

/** What the client wants the answer as; '' is the object itself. */
export interface Answer {
  readonly as: string;
  readonly group: string;
  readonly version: string;
}

const PLAIN: Answer = { as: '', group: '', version: '' };

/**
 * The first of what a client accepts that this server has: JSON, and of other forms of it those in `forms`
 * (`PartialObjectMetadata.meta.k8s.io/v1`). So a client that asks for a table first and for an object second gets the object.
 *
 * Throws `RequestRefused` (406) if there is none.
 */
export function negotiate(accept: string | null, forms: readonly string[]): Answer {
  if (accept === null || accept.trim() === '') return PLAIN;
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type.toLowerCase())) continue;
    const of = new Map(parameters.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
    const [as = '', group = '', version = ''] = [of.get('as'), of.get('g'), of.get('v')];
    if (as === '') return PLAIN;
    if (forms.includes(`${as}.${group}/${version}`)) return { as, group, version };
  }
  throw refuse(406, `only the following media types are accepted: application/json`);
}
