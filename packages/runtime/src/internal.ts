// No promise of stability; for packages of this repository. No part of the public interface: names and behaviour may change
// in any version.
export { GroupCommit } from './state/groupCommit.ts';
