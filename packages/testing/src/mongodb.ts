export { type Fault, type FaultProxy, startFaultProxy } from './faultProxy.ts';
export { mongodbUri, type TestDatabase, testDatabase } from './testDatabase.ts';
