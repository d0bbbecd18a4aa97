/** What the suites of other packages share with the gateway's own: a client that checks every response, and inputs. */
export { type ResponseProblems, responseProblems } from './responseProblems.ts';
export { type TestResponse, type Client, connect, exchange, type Sending } from './client.ts';
export {
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  operations,
  resolve,
  type Response,
} from './openApi.ts';
export {
  type Send,
  type Call,
  type ProtocolClient,
  inProcess,
  type Outcome,
  overPort,
  restOutcome,
  rpcCall,
  rpcOutcome,
} from './parity/protocolClients.ts';
export { finiteNumber, inputs, junk, text } from './parity/jsonInput.ts';
export { jsonText, numberText } from './parity/jsonText.ts';
export { Tally } from './parity/tally.ts';
export { repeatedBy, testSeed } from './testSeed.ts';
