/**
 * etcd's JSON gateway over fetch. What a reader has to know of it:
 *
 * ```text
 *   int64       text, in and out              zero values are left out of answers
 *   bytes       base64                        errors are a status and { error, message, code }
 *   a stream    one JSON text a line, { "result": ... } or { "error": ... }
 * ```
 */
export class Gateway {
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  /** One request, one answer. Throws {@link GatewayError} for an error of etcd, TypeError if nobody answers. */
  async call<T>(path: string, body: object): Promise<T> {
    const response = await this.#post(path, body, AbortSignal.timeout(ANSWER_MS_MAX));
    return (await response.json()) as T;
  }

  /** The messages of a stream, until the signal aborts or etcd ends it. */
  async *stream<T>(path: string, body: object, signal: AbortSignal): AsyncGenerator<T> {
    const response = await this.#post(path, body, signal);
    if (response.body === null) throw new TypeError(`Cannot read ${path}: the answer has no body`);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield resultOf<T>(line);
    }
  }

  async #post(path: string, body: object, signal: AbortSignal): Promise<Response> {
    const response = await fetch(`${this.#address}/v3/${path}`, { method: 'POST', body: JSON.stringify(body), signal });
    if (response.ok) return response;
    const text = await response.text();
    throw new GatewayError(messageOf(text));
  }
}

/** An error that etcd told, in its own words: the gateway's codes do not tell all of them apart. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
}

/** etcd on loopback answers within milliseconds; this is for one that hangs. */
const ANSWER_MS_MAX = 20_000;

function resultOf<T>(line: string): T {
  const message = JSON.parse(line) as { result?: T; error?: { message?: string } };
  if (message.result === undefined) throw new GatewayError(message.error?.message ?? line);
  return message.result;
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { error?: string }).error ?? text;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return text;
  }
}

/** Messages of the gateway, as far as they are read here. */
export interface Header {
  readonly revision?: string;
}

export interface WireRow {
  readonly key: string;
  readonly value?: string;
  readonly create_revision?: string;
  readonly mod_revision?: string;
  readonly version?: string;
  readonly lease?: string;
}

export interface RangeResponse {
  readonly header?: Header;
  readonly kvs?: readonly WireRow[];
  readonly count?: string;
  readonly more?: boolean;
}

export interface PutResponse {
  readonly header?: Header;
  readonly prev_kv?: WireRow;
}

export interface DeleteResponse {
  readonly header?: Header;
  readonly deleted?: string;
  readonly prev_kvs?: readonly WireRow[];
}

export interface TxnResponse {
  readonly header?: Header;
  readonly succeeded?: boolean;
  readonly responses?: readonly OperationResponse[];
}

export interface OperationResponse {
  readonly response_put?: PutResponse;
  readonly response_range?: RangeResponse;
  readonly response_delete_range?: DeleteResponse;
  readonly response_txn?: TxnResponse;
}

/** A TTL is in seconds; of a lease that is not there 0 or -1. */
export interface LeaseResponse {
  readonly header?: Header;
  readonly ID?: string;
  readonly TTL?: string;
  readonly grantedTTL?: string;
  readonly keys?: readonly string[];
}

export interface LeasesResponse {
  readonly leases?: readonly { readonly ID: string }[];
}

export interface WatchResponse {
  readonly header?: Header;
  readonly created?: boolean;
  readonly canceled?: boolean;
  readonly cancel_reason?: string;
  readonly compact_revision?: string;
  readonly events?: readonly { readonly type?: 'DELETE'; readonly kv: WireRow; readonly prev_kv?: WireRow }[];
}
