import { everyForm } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { attackSockets, briefAttack } from './attack.ts';

// Takes half a minute.
it.runIf(everyForm)(
  '250 WebSockets from one address that send no credential, do not finish a message or do not read add at most 150 MB of memory, or 400 MB on node:http, and all requests of another client succeed',
  { timeout: 120_000 },
  async () => {
    needs('a port');
    const { problems } = await attackSockets(briefAttack);
    expect(problems).toEqual([]);
  },
);
