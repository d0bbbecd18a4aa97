import { isObject } from '../../http/isObject.ts';
import type { PlainCall } from './plainCall.ts';
import { PlainInputs } from './plainInputs.ts';

/** The input of a subscription, with the event that its client had last: as `resolveResponse` (@trpc/server 11.25) has it. */
export class EventInputs extends PlainInputs {
  readonly #lastEventId: string | null;

  constructor(
    call: PlainCall,
    transformer: { deserialize(value: unknown): unknown },
    lastEventId: string | null,
  ) {
    super(call, transformer);
    this.#lastEventId = lastEventId;
  }

  override read(index: number): unknown {
    const input = super.read(index);
    const lastEventId = this.#lastEventId;
    if (!lastEventId) return input;
    return isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId });
  }
}
