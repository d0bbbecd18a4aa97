import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Animals } from './Animals.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root.');
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <Animals url={new URLSearchParams(location.search).get('api') ?? 'http://127.0.0.1:3000'} />
  </QueryClientProvider>,
);
