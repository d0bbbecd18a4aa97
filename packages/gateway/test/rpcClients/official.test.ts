import { everyForm } from '@petstore/testing/forms';
import { describe } from 'vitest';
import { serveOfficial } from './officialServer.ts';
import { rpcClients } from './rpcClients.ts';

// That tRPC's own adapters pass is a test of the suite.
describe.runIf(everyForm)('tRPC’s adapters', () => {
  rpcClients(serveOfficial);
});
