import { describe } from 'vitest';
import { animalCases } from './petStore/animals.ts';
import { authenticationCases } from './petStore/authentication.ts';
import { documentCases } from './petStore/document.ts';
import { durabilityCases } from './petStore/durability.ts';
import { errorCases } from './petStore/errors.ts';
import { headerCases } from './petStore/headers.ts';
import { idempotencyCases } from './petStore/idempotency.ts';
import { integerCases } from './petStore/integers.ts';
import { interfaceCases } from './petStore/interface.ts';
import { methodCases } from './petStore/methods.ts';
import { pageCases } from './petStore/pages.ts';
import { propertyCases } from './petStore/properties.ts';
import { rpcCases } from './petStore/rpcCases.ts';
import { subject as subjectOf } from './petStore/subject.ts';
import type { Serve } from './serve.ts';

export interface ConformanceOptions {
  /** Whether animals outlive the process. A store in memory sets it to false. Default: true. */
  readonly keepsAnimals?: boolean;
}

/**
 * Declares the test cases that every server of the pet store must pass over a real port, with any adapter and any store.
 * They cover each line of docs/interface.md#pet-store-service-interface and each section of
 * docs/decisions.md#http-behaviour-of-the-pet-store.
 */
export function petStoreConformance(
  name: string,
  serve: Serve,
  { keepsAnimals = true }: ConformanceOptions = {},
): void {
  // oxlint-disable-next-line vitest/valid-title -- the caller names the server
  describe(name, () => {
    const subject = subjectOf(serve);
    // One describe per group: if the group's own server does not start, only that group's cases fail.
    for (const [group, cases] of Object.entries(GROUPS)) {
      // oxlint-disable-next-line vitest/valid-title -- a key of GROUPS
      describe(group, () => {
        cases(subject, keepsAnimals);
      });
    }
  });
}

const GROUPS = {
  interface: interfaceCases,
  pages: pageCases,
  animals: animalCases,
  integers: integerCases,
  errors: errorCases,
  authentication: authenticationCases,
  methods: methodCases,
  headers: headerCases,
  idempotency: idempotencyCases,
  'tRPC protocol': rpcCases,
  document: documentCases,
  durability: durabilityCases,
  properties: propertyCases,
};
