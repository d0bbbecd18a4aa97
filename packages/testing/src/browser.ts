import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

export type { Browser, Page } from 'playwright-core';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Whether to skip, with a line, without `/usr/bin/chromium` or `CHROMIUM`. `REQUIRE_BROWSER` (CI): fails. */
export function browserMissing(): boolean {
  if (existsSync(executablePath)) return false;
  const why = `${executablePath} is not there: install Debian's chromium, or name another in CHROMIUM.`;
  if (process.env['REQUIRE_BROWSER'] !== undefined) throw new Error(why);
  process.stderr.write(`SKIPPED: cases that need a browser. ${why}\n`);
  return true;
}

/** Starts Chromium without its own background requests to other hosts. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
