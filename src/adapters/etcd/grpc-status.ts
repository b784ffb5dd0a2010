import { EtcdRefusal, NotSent, TooLarge, Unreadable } from '../../backends/etcd/errors.ts';
import type { GrpcMetadata } from './grpc-libraries.ts';

/** What the library for gRPC tells of a call that has failed. */
interface Status {
  readonly code: number;
  readonly details: string;
  readonly metadata?: GrpcMetadata;
}

/** What has been heard of a call besides its answer. */
export interface Heard {
  /** Of an answer that has begun. */
  readonly contentType: string | undefined;
}

export interface StatusFacts {
  readonly endpoint: string;
  readonly heard: Heard;
  readonly answerBytesMax: number;
}

/** Its codes for what it has found out by itself, besides many that a server may say, too. */
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;

/** Before a request is sent: the library has no connection, or the server says that it has not looked at the request. */
const NOT_SENT = /^(?:No connection established|Name resolution failed|Stream refused by server)/;

/** What the library says of an answer that had begun, or of a server that is none. */
const OWN =
  /^(?:Received HTTP status|Received RST_STREAM|Connection dropped|Response message parsing|Cancelled on client|Call cancelled|No status)/;

/**
 * A failed call in the errors of a transport. The library tells its own findings and the server's words in one form; what came
 * from the server has come with headers.
 */
export function errorOfStatus(error: unknown, { endpoint, heard, answerBytesMax }: StatusFacts): unknown {
  if (!isStatus(error)) return error;
  const { code, details, metadata } = error;
  const { contentType } = heard;
  // Another server may answer HTTP/2 with whatever it has; read as messages of gRPC that means anything.
  if (contentType !== undefined && !contentType.startsWith('application/grpc')) {
    const status = /^Received HTTP status code \d+/.exec(details)?.[0] ?? 'an answer';
    return new Unreadable(`${status} of ${contentType === '' ? 'no type' : `the type ${contentType}`}`, {
      cause: error,
    });
  }
  const isServers = contentType !== undefined || (metadata !== undefined && Object.keys(metadata.getMap()).length > 0);
  if (code === RESOURCE_EXHAUSTED && /^Received message larger than max/.test(details))
    return new TooLarge(answerBytesMax);
  if (isServers && !OWN.test(details)) return refusalOf(endpoint, code, details);
  if (code === UNAVAILABLE && NOT_SENT.test(details)) return new NotSent(new Error(plain(details, endpoint)));
  // Said so, lest an error of the connection be taken for one of a request that was never sent.
  return new Unreadable(details, { cause: error });
}

/** The library refuses what is above a server's bound before etcd sees it, with words of its own. */
function refusalOf(endpoint: string, code: number, details: string): EtcdRefusal {
  const isTooLarge = code === RESOURCE_EXHAUSTED && details.startsWith('grpc: received message larger than max');
  return new EtcdRefusal(endpoint, isTooLarge ? `request is too large (${details})` : details, code);
}

/** `No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ` is the middle of it. */
function plain(details: string, endpoint: string): string {
  const reason = details
    .replace(/^No connection established\. Last error: (?:Error(?: \[(\w+)\])?: )?/, (_, name) =>
      name ? `${name} ` : '',
    )
    .replace(/\. Resolution note:\s*$/, '')
    .replace(/ \(\d{4}-[\dT:.-]+Z\)/, '')
    .trim();
  const isCut = /^(?:Failed to connect|Protocol error)$/.test(reason);
  if (!isCut) return reason;
  const doubt = endpoint.startsWith('https:') ? 'is it etcd?' : 'is it etcd, and without TLS as http: says?';
  return `${reason}; something listens there that does not speak gRPC: ${doubt}`;
}

function isStatus(error: unknown): error is Status {
  if (typeof error !== 'object' || error === null) return false;
  const { code, details } = error as Partial<Status>;
  return typeof code === 'number' && typeof details === 'string';
}
