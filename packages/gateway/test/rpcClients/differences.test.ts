import { describe, expect, it } from 'vitest';
import { differences } from './differences.ts';
import { serveGateway } from './gateway.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith } from './start.ts';

describe.each([
  ['official', startWith(serveOfficial)],
  ['gateway', startWith(serveGateway)],
] as const)('where the two differ: %s', (subject, start) => {
  it.each(differences)('$name', async ({ options, look, [subject]: expected }) => {
    expect(await look(await start(options))).toEqual(expected);
  });
});

it('each difference has a reason, and is one', () => {
  for (const { reason, official, gateway } of differences) {
    expect(reason.length).toBeGreaterThan(20);
    expect(official).not.toEqual(gateway);
  }
});
