import * as fc from 'fast-check';

/** A request that a client can send, valid or invalid. */
export interface BadRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | undefined;
  readonly chunked?: boolean;
}

export const apiKey = 'psk_badInput';
export const authorization: readonly [string, string] = ['Authorization', `Bearer ${apiKey}`];
export const contentTypeJson: readonly [string, string] = ['Content-Type', 'application/json'];

/** Formats a request for the message of a failed test; long values are truncated. */
export function show({ method, target, headers, body, chunked }: BadRequest): string {
  const text = (value: string | undefined) => {
    const quoted = JSON.stringify(value ?? '');
    return quoted.length > 400 ? `${quoted.slice(0, 400)}… (${quoted.length})` : quoted;
  };
  return [
    `${method} ${text(target)}`,
    ...headers.map(([name, value]) => `${name}: ${text(value)}`),
    ...(body ? [`${chunked ? 'chunked ' : ''}body ${text(body.toString('latin1'))}`] : []),
  ].join('\n  ');
}

/** Generates mostly the usual values, so that most requests pass the first checks of the server. */
export const mostly = <T>(usual: fc.Arbitrary<T>, ...rare: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4 * rare.length, arbitrary: usual }, ...rare);

/** Values that a header can have: Latin-1 without control characters other than the tab. */
export const headerText: fc.Arbitrary<string> = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.constant(9), fc.integer({ min: 0x80, max: 0xff }))
    .map((code) => String.fromCharCode(code)),
  maxLength: 40,
});
