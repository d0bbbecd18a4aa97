import { everyForm } from '@petstore/testing/forms';
import { describe } from 'vitest';
import { serveOfficial } from './officialServer.ts';
import { trpcClients } from './trpcClients.ts';

// Verifies the suite itself: tRPC's own adapters must pass it.
describe.runIf(everyForm)('tRPC’s adapters', () => {
  trpcClients(serveOfficial);
});
