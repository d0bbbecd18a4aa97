import { apiKey } from './cases.ts';
import { seededAnimals } from './petStore/animals.ts';

/**
 * Gives a store that keeps what it is given the animals that those in memory begin with: through the service, so for
 * whatever store it has.
 * @throws {Error} where the store was not empty: its ids would be others
 */
export async function seedOverHttp(port: number): Promise<void> {
  // One after the other: the ids must be in the animals' order.
  for (const { id, ...animal } of seededAnimals()) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(animal),
    });
    const created = (await response.json()) as { readonly id?: number };
    if (created.id !== id) {
      throw new Error(
        `The store was to be empty: it made ${JSON.stringify(created)} of what was to be animal ${id}.`,
      );
    }
  }
}
