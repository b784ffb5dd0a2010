import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/**
 * Certificates for tests, made on the spot: X.509 version 3, keys on P-256. Written in DER by hand, for Node makes keys and
 * signatures, but no certificates, and not every machine has openssl.
 *
 * ```text
 *   certificate  = SEQUENCE { what is signed, algorithm, signature }
 *   each element = tag, length, content                                 a tag with 0x20 has elements as its content
 * ```
 */
export interface Certificate {
  /** PEM, as the key. */
  readonly cert: string;
  readonly key: string;
  readonly name: string;
  readonly privateKey: KeyObject;
}

export interface CertificateOptions {
  readonly name: string;
  /** @default itself, as an authority */
  readonly issuer?: Certificate;
  /** Whole days from now, a day before and after it by default. */
  readonly fromDays?: number;
  readonly toDays?: number;
  /** Host names and IPv4 addresses that it is for. */
  readonly hosts?: readonly string[];
}

const DAY_MS = 86_400_000;

export function createCertificate(options: CertificateOptions): Certificate {
  const { name, issuer, fromDays = -1, toDays = 1, hosts = ['localhost', '127.0.0.1'] } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signed = sequence(
    element(0xa0, element(0x02, Buffer.of(2))),
    element(0x02, Buffer.of(1), randomBytes(8)),
    ECDSA_WITH_SHA256,
    nameOf(issuer?.name ?? name),
    sequence(timeOf(fromDays), timeOf(toDays)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...(issuer === undefined ? [AUTHORITY] : [NO_AUTHORITY, alternativeNames(hosts)]))),
  );
  const signature = sign('sha256', signed, issuer?.privateKey ?? privateKey);
  const der = sequence(signed, ECDSA_WITH_SHA256, element(0x03, Buffer.of(0), signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), name, privateKey };
}

function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), body]);
}

function sequence(...content: readonly Uint8Array[]): Buffer {
  return element(0x30, ...content);
}

/** The first two numbers share a byte; above 127 a number takes several, seven bits each. */
function identifier(...numbers: readonly number[]): Buffer {
  const [first = 0, second = 0, ...rest] = numbers;
  const bytes = rest.flatMap((number) => {
    const parts = [number & 0x7f];
    for (let more = number >> 7; more > 0; more >>= 7) parts.unshift(0x80 | (more & 0x7f));
    return parts;
  });
  return element(0x06, Buffer.of(first * 40 + second, ...bytes));
}

function nameOf(name: string): Buffer {
  return sequence(element(0x31, sequence(identifier(2, 5, 4, 3), element(0x0c, Buffer.from(name)))));
}

/** `YYMMDDhhmmssZ` */
function timeOf(days: number): Buffer {
  const text = new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:T]|\.\d+/g, '');
  return element(0x17, Buffer.from(text.slice(2)));
}

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host) ? element(0x87, Buffer.from(host.split('.').map(Number))) : element(0x82, Buffer.from(host)),
  );
  return sequence(identifier(2, 5, 29, 17), element(0x04, sequence(...names)));
}

const ECDSA_WITH_SHA256 = sequence(identifier(1, 2, 840, 10045, 4, 3, 2));
const TRUE = element(0x01, Buffer.of(0xff));
const BASIC_CONSTRAINTS = identifier(2, 5, 29, 19);
const AUTHORITY = sequence(BASIC_CONSTRAINTS, TRUE, element(0x04, sequence(TRUE)));
const NO_AUTHORITY = sequence(BASIC_CONSTRAINTS, TRUE, element(0x04, sequence()));
