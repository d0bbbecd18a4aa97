import { CallScope } from '../../policies/callScope.ts';

/**
 * The scope of one call on a socket. The socket aborts it: it keeps its calls, and forgets each that has ended. A listener
 * to its request would stay for as long as the socket is open.
 */
export class SocketScope extends CallScope {
  override follow(): void {}
}
