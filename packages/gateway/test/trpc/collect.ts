import { onTestFinished } from 'vitest';

/** The callbacks of `subscribe` that this suite uses. */
interface Observer<Value> {
  readonly onData: (value: Value) => void;
  readonly onError: (error: unknown) => void;
  readonly onStarted: () => void;
  readonly onStopped: () => void;
  readonly onComplete: () => void;
  readonly onConnectionStateChange: (state: { readonly state: string }) => void;
}

/** A subscription procedure of a client. */
export interface Subscribable {
  readonly subscribe: (input: never) => AsyncIterable<unknown>;
}

type Input<Procedure extends Subscribable> = Parameters<Procedure['subscribe']>[0];
/** `subscribe` is overloaded: without callbacks it returns an async iterable. */
type Output<Procedure extends Subscribable> =
  ReturnType<Procedure['subscribe']> extends AsyncIterable<infer Value> ? Value : never;

/** The overload of `subscribe` with callbacks. */
type Subscribe<Value> = (input: unknown, observer: Partial<Observer<Value>>) => { unsubscribe(): void };

/** Everything that a subscription reported to its client. */
export interface Collected<Value> {
  readonly data: Value[];
  /** `started`, `stopped`, `complete`, `error` and the connection states, in order. */
  readonly events: string[];
  /** The error that ended the subscription. */
  error: unknown;
  /** Resolves when the subscription completes or fails. */
  readonly ended: Promise<void>;
  unsubscribe(): void;
}

/** Subscribes and records data, events and the error. Unsubscribes at the latest when the test ends. */
export function collect<Procedure extends Subscribable>(
  procedure: Procedure,
  input: Input<Procedure>,
): Collected<Output<Procedure>> {
  // TypeScript infers from the last overload only; this calls the one with callbacks.
  const subscribe = procedure.subscribe as unknown as Subscribe<Output<Procedure>>;
  const ended = Promise.withResolvers<void>();
  const collected: Collected<Output<Procedure>> = {
    data: [],
    events: [],
    error: undefined,
    ended: ended.promise,
    unsubscribe: () => subscription.unsubscribe(),
  };
  const note = (event: string) => collected.events.push(event);
  const subscription = subscribe(input, {
    onData: (value) => collected.data.push(value),
    onStarted: () => note('started'),
    onStopped: () => note('stopped'),
    onConnectionStateChange: ({ state }) => note(state),
    onComplete: () => {
      note('complete');
      ended.resolve();
    },
    onError: (error) => {
      collected.error = error;
      note('error');
      ended.resolve();
    },
  });
  onTestFinished(() => subscription.unsubscribe());
  return collected;
}
