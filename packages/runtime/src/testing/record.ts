import type { RequestRecord } from 'trpc-gateway';

/** The record of a GET over REST. */
export const record: RequestRecord = {
  requestId: '',
  method: 'GET',
  path: '/v1/pets',
  protocol: 'rest',
  via: { protocol: 'rest', tool: undefined, client: undefined, oauthClient: undefined },
  operation: 'listPets',
  procedures: ['listPets'],
  calls: 1,
  status: 200,
  isStream: false,
  durationMs: 1,
  bytesIn: 0,
  bytesOut: 0,
  limit: undefined,
  error: undefined,
};
