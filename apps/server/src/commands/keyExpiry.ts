import { z } from 'zod';
import { CommandError } from './commandError.ts';

const durationUnitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const Duration = z
  .string()
  .regex(/^\d{1,9}[mhd]$/)
  .transform(
    (text) => Number.parseInt(text, 10) * durationUnitMs[text.at(-1) as keyof typeof durationUnitMs],
  );

const Instant = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .transform((text) => Date.parse(text));

/** The latest time with a four-digit year in `toISOString`, which fits the table of `keys list`. */
const latestExpiry = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses the value of `--expires` and returns the expiry in milliseconds since the epoch.
 * @param text a duration from now (`90m`, `12h`, `30d`), a UTC date (`2030-01-31`, at 00:00) or an instant (RFC 3339:
 * `2030-01-31T08:00:00Z`)
 * @throws {CommandError} for any other text, and for a time that is not in the future
 */
export function keyExpiry(text: string, now: number): number {
  const duration = Duration.safeParse(text);
  const expiresAt = duration.success ? now + duration.data : Instant.safeParse(text).data;
  if (expiresAt === undefined || !(expiresAt <= latestExpiry)) {
    throw new CommandError(
      `--expires is ${JSON.stringify(text)}; it must be a time from now (90m, 12h, 30d), a date (2030-01-31) or an instant (2030-01-31T08:00:00Z).`,
    );
  }
  if (expiresAt > now) return expiresAt;
  throw new CommandError(`--expires is ${JSON.stringify(text)}; it must be in the future.`);
}
