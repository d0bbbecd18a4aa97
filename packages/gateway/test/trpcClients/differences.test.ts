import { describe, expect, it } from 'vitest';
import { differences } from './differences.ts';
import { serveGateway } from './gateway.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith } from './start.ts';

describe.each([
  ['official', startWith(serveOfficial)],
  ['gateway', startWith(serveGateway)],
] as const)('behavior that differs: %s', (subject, start) => {
  it.each(differences.map(({ [subject]: behavior, ...row }) => ({ ...row, ...behavior })))(
    '$title',
    async ({ options, observe, result }) => {
      expect(await observe(await start(options))).toEqual(result);
    },
  );
});

it('each row of differences has a reason and two different results', () => {
  for (const { reason, official, gateway } of differences) {
    expect(reason.length).toBeGreaterThan(20);
    expect(official.result).not.toEqual(gateway.result);
  }
});
