export { type Fault, type FaultProxy, startFaultProxy } from './faultProxy.ts';
export { mongodbUri, testDatabase } from './testDatabase.ts';
