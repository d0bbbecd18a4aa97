const secretEncoder = new TextEncoder();

/**
 * Compares two secrets in constant time: it compares all bytes of their SHA-256 digests, so its duration reveals
 * nothing about either secret.
 */
export async function isSameSecret(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([digest(one), digest(other)]);
  let difference = 0;
  for (let at = 0; at < first.length; at += 1) difference |= (first[at] ?? 0) ^ (second[at] ?? 0);
  return difference === 0;
}

const digest = async (secret: string) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', secretEncoder.encode(secret)));
