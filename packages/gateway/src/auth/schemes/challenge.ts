import { GatewayError } from '../../procedures/gatewayError.ts';

/**
 * Formats a challenge (RFC 9110 §11.3): `Bearer realm="api", error="invalid_token"`. Undefined parameters are omitted.
 * @throws {GatewayError} for a value that is not valid in a header
 */
export function challengeOf(
  scheme: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const list = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return requireChallenge(`${scheme} ${list.join(', ')}`);
}

/** @throws {GatewayError} for a challenge that is not valid in a header */
export function requireChallenge(challenge: string): string {
  if (/^[\x21-\x7e][\x20-\x7e]*$/.test(challenge)) return challenge;
  throw new GatewayError(
    `The challenge ${JSON.stringify(challenge)} of an authentication scheme cannot be sent in a header. Use printable ASCII for the challenge and its realm.`,
  );
}
