import { Page } from "../../frame/shell";

export default function FilesPage() {
  return <Page title="Files">{null}</Page>;
}
