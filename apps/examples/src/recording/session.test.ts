import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { session } from './session.ts';
import { sessionSvg } from './sessionSvg.ts';

const noCurl = spawnSync('curl', ['--version']).error !== undefined;
if (noCurl) process.stderr.write('SKIPPED: the recorded session: this machine has no curl.\n');

// `npx vitest run apps/examples/src/recording --update` writes it.
it.skipIf(noCurl)('docs/session.svg equals a new recording', async () => {
  await expect(sessionSvg(await session())).toMatchFileSnapshot('../../../../docs/session.svg');
});
