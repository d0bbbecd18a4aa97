export { drainCalls, type DrainRound, drainStreams, type DrainTarget, faultsOf } from './drainRound.ts';
export { addTally, emptyTally } from './tally.ts';
