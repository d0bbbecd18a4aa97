export { drainCalls, drainStreams, problemsOf } from './drainRound.ts';
