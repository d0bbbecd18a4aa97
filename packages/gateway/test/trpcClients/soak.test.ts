import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { shortSoak, soak } from './soak.ts';

it('the gateway delivers every event of concurrent subscriptions and keeps its memory flat while other clients do not read', async () => {
  needs('a port');
  const { problems } = await soak({ subject: 'gateway', ...shortSoak });
  expect(problems).toEqual([]);
});
