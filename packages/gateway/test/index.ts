/** Test tools for the suites of other packages: a client that checks every response, and generators of inputs. */
export { type ResponseProblems, responseProblems } from './wire/responseProblems.ts';
export { type TestResponse, type Client, connect, sendUnchecked, type SendOptions } from './client.ts';
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
  type ProtocolVariant,
  inProcess,
  type Outcome,
  overPort,
  restOutcome,
  rpcCall,
  rpcOutcome,
} from './parity/protocolCalls.ts';
export { finiteNumber, mostlyValidInput, anyJsonValue, anyText } from './parity/jsonInput.ts';
export { jsonText, numberText } from './parity/jsonText.ts';
export { Tally } from './parity/tally.ts';
export { connectTools } from './mcp/connectTools.ts';
export { listen, type Server } from './listen.ts';
export { seedMessage, testSeed } from './testSeed.ts';
export { providerProblems } from './mcp/providerProblems.ts';
export { readExceptions, type Revision, runConformance } from './mcp/conformance.ts';
