export { HttpConnection } from './httpConnection.ts';
export { drainCalls, drainStreams, problemsOf } from './drainRound.ts';
