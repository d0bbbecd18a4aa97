// Hot path: every message on a WebSocket runs through it.
import { turn } from '../../http/turn.ts';
import type { LimitError } from '../../procedures/limitError.ts';
import { maxMessageSizeOf } from './options.ts';
import type { Socket } from './socket.ts';
import {
  maxCallsPerSocket,
  maxPerSlice,
  maxReadCalls,
  maxWaitingMessages,
  tooManyCalls,
} from './socketLimits.ts';

export interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** Receives a message whose turn it is. */
interface MessageReceiver {
  receive(message: Message): void;
}

/** The messages of a socket, and their calls, that wait for the socket's context or for a later turn. */
export class MessageQueue {
  /** Whether messages wait for the context. */
  isBlocked: boolean;
  /** Not parsed yet, since each may be thousands of calls. */
  #messages: Message[] = [];
  #nextMessage = 0;
  #waitingBytes = 0;
  /** Calls that wait for a later turn, or for the messages after them to be read, since one may stop a subscription. */
  #calls: { start(): void }[] = [];
  #nextCall = 0;
  #isScheduled = false;
  readonly #receiver: MessageReceiver;
  readonly #socket: Socket;

  constructor(receiver: MessageReceiver, socket: Socket, isBlocked: boolean) {
    this.#receiver = receiver;
    this.#socket = socket;
    this.isBlocked = isBlocked;
  }

  get hasWork(): boolean {
    return this.#nextMessage < this.#messages.length || this.#nextCall < this.#calls.length;
  }

  /** Returns the error of a query or mutation for which there is no room. */
  fullError(): LimitError | undefined {
    return this.#calls.length - this.#nextCall >= maxCallsPerSocket ? tooManyCalls : undefined;
  }

  /** Receives a message and starts its calls, now or later. */
  add(message: Message): void {
    // As `hasWork`, which would be a call for each message.
    const hasWork = this.#nextMessage < this.#messages.length || this.#nextCall < this.#calls.length;
    if (turn.spend() || (!this.isBlocked && hasWork)) return this.hold(message);
    this.#receiver.receive(message);
    if (!this.isBlocked) this.startCalls();
  }

  hold(message: Message): void {
    this.#waitingBytes += message.data.byteLength;
    const isFull = this.#messages.length - this.#nextMessage >= maxWaitingMessages;
    if (isFull || this.#waitingBytes > maxMessageSizeOf(this.#socket.settings.limits)) {
      this.#socket.limited('messages');
      this.#socket.close(1008, 'Too many messages were sent at once.');
      return;
    }
    this.#messages.push(message);
    if (!this.isBlocked) this.#schedule();
  }

  push(call: { start(): void }): void {
    this.#calls.push(call);
  }

  clear(): void {
    this.#messages = [];
    this.#calls = [];
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#socket.peer.pause?.();
    turn.later(this.#work);
  }

  readonly #work = (): void => {
    this.#isScheduled = false;
    this.receiveWaiting(maxPerSlice);
    this.startCalls(maxPerSlice);
    if (this.#socket.isOpen && !this.isBlocked && this.hasWork) this.#schedule();
    else this.#socket.peer.resume?.();
  };

  /** Receives at most so many messages that wait, within the budget of the turn. */
  receiveWaiting(most = Infinity): void {
    for (
      let count = 0;
      this.#socket.isOpen && !this.isBlocked && this.#nextMessage < this.#messages.length;
      count += 1
    ) {
      // Each message may be thousands of calls.
      if (this.#calls.length - this.#nextCall >= maxReadCalls) return;
      if (count === most || (count > 0 && turn.spend())) return this.#schedule();
      const message = this.#messages[this.#nextMessage] as Message;
      this.#nextMessage += 1;
      this.#waitingBytes -= message.data.byteLength;
      if (this.#nextMessage === this.#messages.length) {
        this.#messages = [];
        this.#nextMessage = 0;
      }
      this.#receiver.receive(message);
    }
  }

  /** Starts at most so many calls that wait, within the budget of the turn, if no message waits. */
  startCalls(most = Infinity): void {
    for (let count = 0; !this.#isScheduled && this.#nextCall < this.#calls.length; count += 1) {
      if (count === most || (count > 0 && turn.spend())) return this.#schedule();
      const calls = this.#calls;
      const call = calls[this.#nextCall];
      this.#nextCall += 1;
      if (this.#nextCall === calls.length) {
        // The next message reuses the memory of a short array.
        if (calls.length === 1) calls.pop();
        else this.#calls = [];
        this.#nextCall = 0;
      }
      call?.start();
    }
  }
}
