import { everyForm } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { attackSockets, briefAttack } from './attack.ts';

// Half a minute.
it.runIf(everyForm)(
  '250 WebSockets of one address that send no credential, do not finish or do not read take at most 150 MB, or 400 MB on node:http, and keep no other client from being served',
  { timeout: 120_000 },
  async () => {
    needs('a port');
    const { problems } = await attackSockets(briefAttack);
    expect(problems).toEqual([]);
  },
);
