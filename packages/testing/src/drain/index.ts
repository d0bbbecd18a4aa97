export { HttpConnection } from './httpConnection.ts';
export { drainCalls, type DrainRound, drainStreams, type DrainTarget, problemsOf } from './drainRound.ts';
export { addTally, emptyTally } from './tally.ts';
