// The section "Data": export, import, and the deletion of everything.

import { useMemo } from 'preact/hooks';
import { dataOf } from '../../../store/data/data';
import { useApp } from '../../context';
import { Section } from '../section';
import { Erase } from './erase';
import { Export } from './export';
import { Import } from './import';

export function DataSection() {
  const app = useApp();
  const data = useMemo(() => dataOf(app), [app]);
  return (
    <Section title="Data">
      <Export exporting={data.exporting} />
      <Import data={data} />
      <Erase data={data} />
    </Section>
  );
}
