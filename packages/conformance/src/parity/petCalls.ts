import { type Call, type ProtocolVariant, jsonText, numberText, rpcCall } from 'trpc-gateway-test';

export type Procedure = 'listPets' | 'createPet' | 'getPet';

/** Returns the request for a call over a protocol, or `undefined` if the protocol cannot express the input. */
export function petCall(procedure: Procedure, input: unknown, protocol: ProtocolVariant): Call | undefined {
  if (protocol === 'rest') return restCall(procedure, input);
  return rpcCall(procedure === 'createPet' ? 'mutation' : 'query', procedure, input, protocol === 'batch');
}

/**
 * Returns the REST request with the same meaning as a tRPC input:
 *
 * - `createPet`: the input is the JSON body; `undefined` is an empty body.
 * - `getPet`: the number `petId` is the path segment, in exact decimal.
 * - `listPets`: the numbers `limit` and `cursor` and the well-formed string `status` are query parameters.
 * - Other members of the inputs of `getPet` and `listPets` are unknown query parameters, which both protocols ignore.
 *
 * Paths and queries are untyped: `5` there means tRPC's `5`, and nothing there means tRPC's `"5"`, `true`, `null` or a missing
 * `petId`. These inputs have no REST request; their calls run over tRPC in both pet stores.
 */
function restCall(procedure: Procedure, input: unknown): Call | undefined {
  if (procedure === 'createPet') {
    return { method: 'POST', target: '/v1/pets', body: input === undefined ? '' : jsonText(input) };
  }
  if (input === undefined && procedure === 'listPets') return { method: 'GET', target: '/v1/pets' };
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;

  let path = '/v1/pets';
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input) as [string, unknown][]) {
    if (procedure === 'getPet' && name === 'petId') {
      if (typeof value !== 'number') return undefined;
      path += `/${numberText(value)}`;
    } else if (procedure === 'listPets' && (name === 'limit' || name === 'cursor')) {
      if (typeof value !== 'number') return undefined;
      query.append(name, numberText(value));
    } else if (procedure === 'listPets' && name === 'status') {
      if (typeof value !== 'string' || !value.isWellFormed()) return undefined;
      query.append(name, value);
    } else {
      query.append(name, typeof value === 'string' ? value : jsonText(value));
    }
  }
  if (procedure === 'getPet' && path === '/v1/pets') return undefined;
  return { method: 'GET', target: query.size === 0 ? path : `${path}?${query.toString()}` };
}
